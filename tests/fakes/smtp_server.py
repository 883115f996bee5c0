"""A mail server that keeps what it is given, and can be down or refuse."""

from __future__ import annotations

import email
import socketserver
import threading
from email.message import Message
from typing import Any


class SmtpServer:
    """On 127.0.0.1. `refuse`: how it answers RCPT; `answer`: how it answers a message."""

    def __init__(self) -> None:
        self.received: list[tuple[list[str], Message]] = []
        self.refuse = ""
        self.answer = "250 OK"
        self._server: socketserver.ThreadingTCPServer | None = None
        self.port = 0
        self.start()

    def start(self) -> None:
        """Start, at the same port as before."""
        fake = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                fake.talk(self.rfile, self.wfile)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        self._server = Server(("127.0.0.1", self.port), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=[0.01], daemon=True).start()

    def stop(self) -> None:
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    @property
    def mailers(self) -> dict[str, Any]:
        """Django's setting for it."""
        options = {"host": "127.0.0.1", "port": self.port, "timeout": 5}
        return {"default": {"BACKEND": "django.core.mail.backends.smtp.EmailBackend", "OPTIONS": options}}

    def talk(self, lines: Any, answers: Any) -> None:
        def say(text: str) -> None:
            answers.write(f"{text}\r\n".encode())

        say("220 fake")
        people: list[str] = []
        while line := lines.readline():
            words = line.decode().split()
            match words[0].upper() if words else "":
                case "RCPT":
                    if self.refuse:
                        say(self.refuse)
                        continue
                    people.append(words[1].partition("<")[2].rstrip(">"))
                    say("250 OK")
                case "DATA":
                    say("354 go on")
                    content = bytearray()
                    while (part := lines.readline()) != b".\r\n":
                        content += part
                    if self.answer.startswith("250"):
                        self.received.append((people, email.message_from_bytes(bytes(content))))
                    people = []
                    say(self.answer)
                case "QUIT":
                    say("221 bye")
                    return
                case _:
                    say("250 OK")

    @property
    def subjects(self) -> list[str]:
        return [str(message["Subject"]) for _, message in self.received]
