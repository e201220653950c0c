"""A server that answers bytes with bytes, for what no HTTP library would send.

with RawServer(lambda request: b"HTTP/1.1 200 OK\\r\\n...") as server:
    ... server.url ... server.requests ...
"""

from __future__ import annotations

import contextlib
import socketserver
import threading
from collections.abc import Callable


class RawServer:
    def __init__(self, answer: Callable[[bytes], bytes]):
        self.requests: list[bytes] = []
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                head = b""
                while not head.endswith(b"\r\n\r\n"):
                    line = self.rfile.readline()
                    if not line:
                        return
                    head += line
                length = next(
                    (
                        int(line.split(b":")[1])
                        for line in head.splitlines()
                        if line.lower().startswith(b"content-length")
                    ),
                    0,
                )
                request = head + self.rfile.read(length)
                outer.requests.append(request)
                with contextlib.suppress(OSError):
                    self.wfile.write(answer(request))

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = allow_reuse_address = True

        self._server = Server(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> RawServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def http(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body
