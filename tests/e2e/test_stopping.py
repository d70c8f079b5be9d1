"""SIGTERM and SIGINT end the server soon and cleanly, whoever is connected."""

import asyncio
import os
import signal
import socket
import time
from pathlib import Path

import pytest

from tests.e2e.conftest import StartServer
from tests.e2e.crowd import STREAMS_PER_DEVICE, enrol_many, open_polls, open_streams
from tests.e2e.phones import HTTP, Phone, ask, bearer, read
from tests.e2e.server_process import ServerProcess, crowding

STREAMS = 1_000
POLLS = 50
STOP_MAX_SECONDS = 2.0  # what is promised, on a machine that has a CPU to spare

QUESTIONS_TO_FILL_BUFFERS = 100  # of 9 KB each; the kernel keeps about 256 KB for the server
LAST_CHUNK = b"0\r\n\r\n"


@pytest.fixture(scope="module")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Phone]]:
    """A data folder with phones enough for a thousand streams."""
    folder = tmp_path_factory.mktemp("crowded") / "data"
    with ServerProcess(folder) as server:
        phones = enrol_many(server, folder, STREAMS // STREAMS_PER_DEVICE)
        assert server.stop() == 0
    return folder, phones


async def stop_under_load(
    server: ServerProcess, phones: list[Phone], how: signal.Signals
) -> tuple[float, int, list[bytes], list[bytes]]:
    """Return how long the stop took in seconds, the exit code, and what the streams and the polls got."""
    token = phones[0].token
    asked = ask(server.url, token, "Still there?").json()["id"]
    streams = await open_streams(server.port, [phone.device_token for phone in phones] * STREAMS_PER_DEVICE)
    polls = await open_polls(server.port, token, asked, POLLS)
    # Answered only once the server has read everything sent before.
    assert read(server.url, token, asked).json()["status"] == "pending"
    replies = asyncio.gather(*(held.read_to_end() for held in [*streams, *polls]))
    started = time.monotonic()
    code = await asyncio.to_thread(server.stop, how)
    seconds = time.monotonic() - started
    ended = await replies
    return seconds, code, ended[:STREAMS], ended[STREAMS:]


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_a_thousand_streams_and_the_long_polls_end_properly_within_two_seconds(
    how: signal.Signals, crowded: tuple[Path, list[Phone]], start_server: StartServer
):
    folder, phones = crowded
    server = start_server(folder=folder)

    seconds, code, streams, polls = asyncio.run(stop_under_load(server, phones, how))

    assert code == 0
    assert seconds < STOP_MAX_SECONDS * crowding()
    assert len(streams) == STREAMS
    assert all(stream.endswith(LAST_CHUNK) for stream in streams)
    assert len(polls) == POLLS
    assert all(b'"status":"pending"' in poll and b"retry-after: " in poll for poll in polls)
    assert server.complaints == []


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT])
def test_an_impatient_second_signal_still_ends_streams_and_exits_cleanly(
    how: signal.Signals, server: ServerProcess, phone: Phone
):
    async def signal_twice() -> tuple[int, bytes]:
        (stream,) = await open_streams(server.port, [phone.device_token])
        os.kill(server.pid, how)
        code = await asyncio.to_thread(server.stop, how)
        return code, await stream.read_to_end()

    code, stream = asyncio.run(signal_twice())

    assert code == 0
    assert stream.endswith(LAST_CHUNK)
    assert server.complaints == []


def test_half_a_request_does_not_hold_up_the_end(server: ServerProcess, phone: Phone):
    half_a_head = b"POST /v1/interactions HTTP/1.1\r\nHost: x\r\n"
    half_a_body = half_a_head + f"Authorization: Bearer {phone.token}\r\nContent-Length: 50\r\n\r\n{{".encode()
    with (
        socket.create_connection(("127.0.0.1", server.port)) as silent,
        socket.create_connection(("127.0.0.1", server.port)) as in_the_head,
        socket.create_connection(("127.0.0.1", server.port)) as in_the_body,
    ):
        in_the_head.sendall(half_a_head)
        in_the_body.sendall(half_a_body)
        assert ask(server.url, phone.token).status_code == 201
        started = time.monotonic()

        assert server.stop() == 0

        assert time.monotonic() - started < STOP_MAX_SECONDS * crowding()
        assert silent.recv(1) == b""
    assert server.complaints == []


def test_a_reader_that_takes_nothing_does_not_hold_up_the_end(server: ServerProcess, phone: Phone):
    question, choices = "\N{HOURGLASS}" * 1_000, ["\N{SNOWMAN}" * 100, "\N{UMBRELLA}" * 100]
    with socket.socket() as stuck:
        stuck.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        stuck.connect(("127.0.0.1", server.port))
        stuck.sendall(
            f"GET /v1/sync HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {phone.device_token}\r\n\r\n".encode()
        )
        for number in range(QUESTIONS_TO_FILL_BUFFERS):
            asked = ask(server.url, phone.token, question, choices=choices, idempotency_key=f"{number}")
            assert asked.status_code == 201
            cancelled = HTTP.delete(f"{server.url}/v1/interactions/{asked.json()['id']}", headers=bearer(phone.token))
            assert cancelled.status_code == 200
        started = time.monotonic()

        assert server.stop() == 0

        assert time.monotonic() - started < STOP_MAX_SECONDS * crowding()
    assert server.complaints == []
