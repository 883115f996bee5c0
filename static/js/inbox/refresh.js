// Keeps [data-refresh="SECONDS"] and the icon up to date while the page is visible: requests the page's own address, and
// gets 304 without news.

const HIDDEN_EVERY = 60; // seconds: browsers slow hidden pages down to this anyway

/** @param {PageElement} region */
function keepFresh(region) {
  let version = region.dataset.version || "";
  let last = Date.now();
  let asking = false;

  // A hidden page asks nothing, unless a person wants to be notified by it.
  function wait() {
    if (!document.hidden) return Number(region.dataset.refresh);
    return region.dataset.whenHidden ? HIDDEN_EVERY : Infinity;
  }

  async function refresh() {
    if (asking) return;
    asking = true;
    last = Date.now();
    try {
      await htmx.ajax("GET", location.pathname + location.search, {
        source: region,
        target: region,
        swap: "innerMorph",
      });
    } finally {
      asking = false;
    }
  }

  region.addEventListener("htmx:config:request", (event) => {
    if (version) event.detail.ctx.request.headers["If-None-Match"] = version;
  });
  region.addEventListener("htmx:after:request", (event) => {
    version = event.detail.ctx.response?.headers?.get("ETag") || version;
  });
  region.addEventListener("htmx:after:swap", () => {
    const icon = document.querySelector("link[rel=icon][data-waits]");
    const badge = Number(region.querySelector("[data-badge]")?.dataset.badge || 0);
    if (icon) icon.href = badge ? icon.dataset.waits : icon.dataset.quiet;
  });
  setInterval(() => {
    if (Date.now() - last >= wait() * 1000) refresh();
  }, 1000);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) refresh();
  });
}

const region = document.querySelector("[data-refresh]");
if (region) keepFresh(region);
