"""Secrets do not get through, whole or in pieces."""

from __future__ import annotations

from sa_builder.util.redact import Redactor, redact_headers

LONG, SHORT = "abcdefgh-and-more", "abcdefgh"


def test_the_longest_secret_goes_first_and_short_ones_stay() -> None:
    redactor = Redactor([SHORT, LONG, "tiny"])

    assert redactor.text(f"{LONG} {SHORT} tiny") == "[redacted] [redacted] tiny"


def test_a_stream_is_redacted_at_every_way_to_cut_it() -> None:
    redactor = Redactor([LONG, SHORT, "aaaaaaab"])
    for text in (f"x{LONG}y{SHORT}z", f"{SHORT}-and-mo", "aaaaaaaaab", f"abcd{SHORT}", SHORT):
        for first in range(len(text) + 1):
            for second in range(first, len(text) + 1):
                stream = redactor.stream()
                pieces = (text[:first], text[first:second], text[second:])
                shown = "".join(stream.feed(piece) for piece in pieces) + stream.end()
                assert SHORT not in shown
                assert "aaaaaaab" not in shown
                assert shown.replace("[redacted]", "").strip("xyzabcd-mno") == ""


def test_text_without_a_secret_passes_at_once() -> None:
    stream = Redactor([LONG]).stream()

    assert stream.feed("Nothing here. ") == "Nothing here. "
    assert stream.feed("ends in abc") == "ends in "
    assert stream.feed("x") == "abcx"
    assert stream.end() == ""


def test_secret_headers_are_known_by_name() -> None:
    headers = {"Authorization": "Bearer x", "X-Api-Key": "y", "Accept": f"a {LONG}"}

    assert redact_headers(headers, Redactor([LONG])) == {
        "Authorization": "[redacted]",
        "X-Api-Key": "[redacted]",
        "Accept": "a [redacted]",
    }
