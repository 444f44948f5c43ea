"""A consultation as training data: the ids of a token session, who wrote each, and the log-probs they were drawn at."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from .token_sessions import Options, SessionEnd, TokenClient, TokenSession, ToRead


@dataclass(frozen=True)
class Drawn:
    """What an engine drew: ids, the natural logarithm of each one's probability, and the policy's number.

    version: one number, or one for each token if weights changed meanwhile.
    """

    tokens: Sequence[int]
    logprobs: Sequence[float]
    version: int | Sequence[int]


@dataclass
class Segment:
    """One token stream. All lists but `prompt` are of the response, which is everything after the first ids read.

    mask: 1 where the policy drew. logprobs: as drawn, 0 elsewhere. versions: policy that drew, -1 elsewhere.
    """

    prompt: list[int]
    response: list[int] = field(default_factory=list)
    mask: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)

    def lists(self) -> tuple[list[int], list[int], list[float], list[int]]:
        """Response, mask, log-probs and versions."""
        return self.response, self.mask, self.logprobs, self.versions

    def reads(self, prompt: Sequence[int]) -> bool:
        """Appends the new ids of a prompt; False, and nothing, where the prompt does not extend the stream."""
        known = [*self.prompt, *self.response]
        if list(prompt[: len(known)]) != known:
            return False
        heard = prompt[len(known) :]
        self.response.extend(heard)
        self.mask.extend([0] * len(heard))
        self.logprobs.extend([0.0] * len(heard))
        self.versions.extend([-1] * len(heard))
        return True

    def draws(self, drawn: Drawn) -> None:
        """Appends what the policy drew."""
        count = len(drawn.tokens)
        each = [drawn.version] * count if isinstance(drawn.version, int) else list(drawn.version)
        if len(drawn.logprobs) != count or len(each) != count:
            raise ValueError(
                f"Expected a log-prob and a version for each of {count} tokens, got {len(drawn.logprobs)} and {len(each)}"
            )
        self.response.extend(drawn.tokens)
        self.mask.extend([1] * count)
        self.logprobs.extend(drawn.logprobs)
        self.versions.extend(each)


@dataclass
class Transcript:
    """The token streams of a consultation so far; more than one where a prompt rewrote history."""

    segments: list[Segment] = field(default_factory=list)

    def read(self, prompt: Sequence[int]) -> None:
        """Takes the prompt of a turn; one that does not extend the stream begins another."""
        if not self.segments or not self.segments[-1].reads(prompt):
            self.segments.append(Segment(list(prompt)))

    def drew(self, drawn: Drawn) -> None:
        """Takes what was drawn after the last prompt."""
        self.segments[-1].draws(drawn)


def joined(segments: Sequence[Segment]) -> tuple[Segment, int] | None:
    """Several streams as one, for a trainer that has one sample for a consultation.

    A stream may be broken off within its last reply: the policy ended its turn with another id than the template does.
    What it drew there and later read otherwise is left out; all else is as drawn and read. Returns the stream and the
    number of drawn ids left out; None where a prompt rewrote what is older than the last reply.
    """
    whole, left_out = segments[0], 0
    for after in segments[1:]:
        known = [*whole.prompt, *whole.response]
        pairs = zip(known, after.prompt, strict=False)
        same = next(
            (at for at, (one, other) in enumerate(pairs) if one != other), len(after.prompt)
        )
        intact = same - len(whole.prompt)
        if intact < 0 or 0 in whole.mask[intact:]:
            return None
        left_out += len(whole.response) - intact
        read = Segment(whole.prompt, *(values[:intact] for values in whole.lists()))
        if not read.reads(after.prompt):
            return None
        whole = Segment(
            whole.prompt,
            *(mine + theirs for mine, theirs in zip(read.lists(), after.lists(), strict=True)),
        )
    return whole, left_out


@dataclass(frozen=True)
class Played:
    """A finished consultation. reopened: times that the server had lost it."""

    segments: list[Segment]
    end: SessionEnd
    reopened: int


async def play_session(session: TokenSession, draw: Callable[[ToRead], Awaitable[Drawn]]) -> Played:
    """Plays an open session to its end. @raises Refused; LostConsultation; what `draw` raises"""
    transcript = Transcript()
    while isinstance(session.next, ToRead):
        to_read = session.next
        transcript.read(to_read.prompt)
        drawn = await draw(to_read)
        transcript.drew(drawn)
        # The wire has one number: the oldest, so that no token seems newer than it is.
        version = drawn.version if isinstance(drawn.version, int) else min(drawn.version)
        await session.draw(drawn.tokens, drawn.logprobs, version)
    return Played(transcript.segments, session.next, session.reopened)


async def play(
    client: TokenClient, options: Options, draw: Callable[[ToRead], Awaitable[Drawn]]
) -> Played:
    """Opens a consultation, plays it, and ends it at the server. @raises as `play_session`"""
    async with await client.open(options) as session:
        return await play_session(session, draw)
