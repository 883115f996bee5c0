// Says at the button why a passkey could not be used. Allauth's script announces it.

/** @param {{ name?: string } | undefined} problem */
function words(problem) {
  if (!window.isSecureContext || !window.PublicKeyCredential)
    return "Passkeys work only over https, or at http://localhost. Open the site there, or sign in another way.";
  if (problem?.name === "SecurityError")
    return "Passkeys do not work at an address of numbers. Open the site by its name, such as http://localhost.";
  if (problem?.name === "InvalidStateError") return "This device has a passkey for your account already.";
  if (problem?.name === "NotAllowedError") return "No passkey was chosen, or the time ran out. Try again.";
  return "The passkey could not be used. Try again, or sign in another way.";
}

document.addEventListener("allauth.error", (event) => {
  event.preventDefault();
  const place = document.getElementById("passkey-problem");
  if (!place) return;
  place.textContent = words(/** @type {any} */ (event).detail?.exception);
  place.hidden = false;
});
