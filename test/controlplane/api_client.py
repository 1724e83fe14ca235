"""Sends requests to the API server, without kubectl's start-up time."""

import http.client
import io
import select
import ssl
import threading
import urllib.error
import urllib.parse


class ApiClient:
    """Keeps one connection for each thread, because a handshake costs both sides more time than most requests do."""

    def __init__(self, server, authority, certificate, key):
        """`server` is https://HOST:PORT; the others are paths of PEM files."""
        self._server = server
        self._address = urllib.parse.urlsplit(server).netloc
        self._context = ssl.create_default_context(cafile=str(authority))
        self._context.load_cert_chain(certificate, key)
        self._of_thread = threading.local()

    def request(self, method, path, body=None, content_type="application/json", user=None) -> bytes:
        """Returns the body of the answer. The request is made as that user if one is given. Raises urllib.error.HTTPError from status 400 on, and OSError without an answer."""
        headers = {"Content-Type": content_type, **({"Impersonate-User": user} if user else {})}
        connection = self._take() or http.client.HTTPSConnection(self._address, context=self._context, timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers)
            answer = connection.getresponse()
            content = answer.read()
        except http.client.HTTPException as error:
            connection.close()
            raise error if isinstance(error, OSError) else OSError(f"{method} {path}: {error!r}") from error
        except BaseException:
            connection.close()
            raise
        if not answer.will_close:
            self._of_thread.connection = connection
        if answer.status >= 400:
            raise urllib.error.HTTPError(self._server + path, answer.status, answer.reason, answer.headers, io.BytesIO(content))
        return content

    def _take(self):
        """Returns this thread's connection unless the server closed it, as a server does that is killed."""
        connection, self._of_thread.connection = getattr(self._of_thread, "connection", None), None
        if connection is None:
            return None
        readable, _, _ = select.select([connection.sock], [], [], 0)
        if readable:
            connection.close()
            return None
        return connection
