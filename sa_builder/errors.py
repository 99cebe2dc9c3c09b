"""Every error the product raises on purpose.

Exception
├── KnownError            the world's or the user's: one sentence, an act to take, a code
│   ├── ProjectError      no project there, a file that cannot be read or written
│   ├── EditRefused       an edit that would not read back as intended, or may not be made
│   ├── DefinitionError   a definition that breaks a rule (raised by define_*)
│   ├── StoreError        a database that is locked, corrupt, newer, full
│   ├── ProviderError     a model call that failed (in sa_builder.providers.base)
│   ├── RuntimeRefused    a wish the runtime does not grant: unknown agent, thread ended
│   └── HostError         the code host cannot start, died, or was stopped
└── BugError              ours: report it with its traceback
"""

from __future__ import annotations


class KnownError(Exception):
    """Something the user can understand and act on; shown as it is, never with a traceback."""

    def __init__(self, sentence: str, *, act: str = "", code: str = "known") -> None:
        """Keep what is wrong and what to do about it.

        Args:
            sentence: one sentence that says what is wrong and where.
            act: one sentence that says what to do; empty when the first one already does.
            code: stable dotted code, such as "project.missing".
        """
        super().__init__(sentence)
        self.sentence = sentence
        self.act = act
        self.code = code

    def text(self) -> str:
        """Both sentences, as a person reads them."""
        return f"{self.sentence} {self.act}".strip()

    def __str__(self) -> str:
        return self.text()


class ProjectError(KnownError):
    """A project folder or one of its files cannot be read or written."""


class EditRefused(KnownError):
    """An edit that may not be made; no file was touched."""


class DefinitionError(KnownError):
    """A definition breaks a rule; the sentence is that of the rule."""


class StoreError(KnownError):
    """A database cannot be used: locked, corrupt, too new, disk full."""


class RuntimeRefused(KnownError):
    """The runtime does not grant this: no such agent or thread, thread terminated."""


class HostError(KnownError):
    """The code host could not start, died, or was stopped."""


class BugError(Exception):
    """A state the product itself should have made impossible."""
