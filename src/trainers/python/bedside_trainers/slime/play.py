"""One consultation as slime's samples: what was read and drawn, with masks and log-probs, and what it was paid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..token_sessions import BadJob, LostConsultation, SessionEnd, TokenSession, ToRead, shared_client
from .engine import Engine, Reply, shared_engine
from .library import Sample, stock_rollout_stops
from .settings import Settings, argument, sampling_of, settings_of

#: Options of a consultation that the columns of a data set may hold.
_COLUMNS = ("seed", "index", "split", "case_id", "language", "tier", "case_seed")
_KEPT = (
    *("group_index", "index", "prompt", "label", "apply_chat_template_kwargs"),
    *("generate_function_path", "custom_rm_path", "train_metadata", "session_id"),
)


def fresh(sample: Sample) -> Sample:
    """The sample as it was before anything was played."""
    metadata = {name: value for name, value in sample.metadata.items() if name != "bedside"}
    return Sample(**{name: getattr(sample, name) for name in _KEPT}, metadata=metadata)


def is_lost(sample: Sample) -> bool:
    """Whether the world failed at its consultation: it has no score, which is not 0."""
    return "lost" in sample.metadata.get("bedside", {})


def first_of(rollout: Sample | list[Sample]) -> Sample:
    """The first sample of a rollout."""
    return rollout[0] if isinstance(rollout, list) else rollout


def seed_of(sample: Sample, job: Mapping[str, Any], *, evaluation: bool) -> dict[str, Any]:
    """The consultation of a sample: siblings, which share a group's number, meet one patient. @raises BadJob"""
    given = {name: sample.metadata[name] for name in _COLUMNS if name in sample.metadata}
    given |= sample.metadata.get("consultation", {})
    number = sample.index if sample.group_index is None else sample.group_index
    if number is None and not {"seed", "index"} <= given.keys():
        raise BadJob("Expected samples with a `group_index`, or a `consultation` in their metadata")
    for name in ("seed", "index"):
        given.setdefault(name, int(job.get(name, 0)) + (number or 0))
    if evaluation and "split" not in job:
        given.setdefault("split", "heldout")
    return given


@dataclass
class _Half:
    """The part of a reply that was drawn before it was broken off."""

    tokens: list[int]
    logprobs: list[float]
    version: int

    def join(self, reply: Reply) -> _Half:
        """With what was drawn after it. The oldest weights are named: no token seems newer than it is."""
        version = min(self.version, reply.version) if self.tokens else reply.version
        return _Half(self.tokens + reply.tokens, self.logprobs + reply.logprobs, version)


class Play:
    """A consultation under way: the samples so far, and what is needed to go on with it elsewhere."""

    def __init__(self, args: Any, settings: Settings, sample: Sample) -> None:
        self._args, self._settings = args, settings
        state = sample.metadata.get("bedside", {})
        going_on = sample.status == Sample.Status.ABORTED and "draws" in state
        self.samples = [sample if going_on else fresh(sample)]
        self.draws: list[dict[str, Any]] = list(state["draws"]) if going_on else []
        half = state.get("half") if going_on else None
        self._half = _Half(**half) if half else _Half([], [], 0)
        self._cut = bool(state.get("cut")) if going_on else False

    def read(self, prompt: list[int]) -> None:
        """Takes the ids to read. Where they rewrite history another sample begins."""
        now, half = self.samples[-1], len(self._half.tokens)
        known = now.tokens[: len(now.tokens) - half] if half else now.tokens
        if not known:
            now.tokens = list(prompt)
        elif prompt[: len(known)] == known:
            heard = prompt[len(known) :]
            if heard and half:
                raise LostConsultation("Expected the ids of a reply that was broken off, got others")
            if heard:
                now.append_response_tokens(self._args, tokens=heard, trainable=False)
        else:
            self.samples.append(fresh(now))
            self.samples[-1].tokens = list(prompt)

    async def draw(
        self, engine: Engine, read: ToRead, sampling: Mapping[str, Any]
    ) -> _Half | None:
        """Draws the reply to what was read; None where it was broken off."""
        now = self.samples[-1]
        room = min(read.max_tokens, int(sampling["max_new_tokens"])) - len(self._half.tokens)
        if room > 0:
            how = {**sampling, "max_new_tokens": room, "stop_token_ids": read.stop}
            reply = await engine.draw(now.tokens, how, key=str(now.session_id or now.index))
            if not reply.tokens and reply.ending != "abort":
                raise LostConsultation(f"An engine drew nothing and ended with {reply.ending}")
            now.append_response_tokens(
                self._args,
                tokens=reply.tokens,
                log_probs=reply.logprobs,
                trainable=True,
                meta_info=dict(reply.meta),
                text=reply.text,
            )
            self._half = self._half.join(reply)
            if reply.ending == "abort":
                return None
        whole, self._half = self._half, _Half([], [], 0)
        self._cut = self._cut or whole.tokens[-1] not in read.stop
        return whole

    def breaks_off(self) -> Sample:
        """The sample of a consultation that is to go on later, or to be dropped."""
        sample = self.samples[0]
        if len(self.samples) > 1:
            # Its streams are not one sample: it begins again.
            sample = fresh(sample)
        else:
            half = asdict(self._half) if self._half.tokens else None
            sample.metadata["bedside"] = {"draws": self.draws, "half": half, "cut": self._cut}
        sample.status = Sample.Status.ABORTED
        return sample

    def fails(self, reason: str) -> Sample:
        """The sample of a consultation that the world broke off: marked, masked, and without a score."""
        sample = self.samples[0]
        sample.status, sample.remove_sample, sample.reward = Sample.Status.ABORTED, True, None
        sample.metadata["bedside"] = {"lost": reason}
        return sample

    def ends(self, end: SessionEnd) -> list[Sample]:
        """The samples of a consultation that was scored."""
        reward: float | dict[str, Any] = float(end.reward if end.reward is not None else "nan")
        if argument(self._args, "reward_key"):
            parts = (end.score or {}).get("parts", {})
            ok = {name: part["value"] for name, part in parts.items() if part["status"] == "ok"}
            reward = {**ok, "total": reward}
        about = {"score": end.score, "turns": end.turns, "forks": end.forks}
        status = Sample.Status.TRUNCATED if self._cut else Sample.Status.COMPLETED
        for sample in self.samples:
            sample.reward, sample.status = reward, status
            sample.metadata["bedside"] = about
            # One rollout, several samples: slime averages over it once.
            sample.rollout_id = sample.index
        return self.samples


async def _converse(
    play: Play,
    session: TokenSession,
    engine: Engine,
    sampling: Mapping[str, Any],
    stops: Callable[[], bool],
) -> list[Sample]:
    while isinstance(session.next, ToRead):
        read = session.next
        play.read(read.prompt)
        drawn = None if stops() else await play.draw(engine, read, sampling)
        if drawn is None:
            return [play.breaks_off()]
        await session.draw(drawn.tokens, drawn.logprobs, drawn.version)
        play.draws = session.draws
    end = session.next
    if end.reward is None:
        return [play.fails(f"No score: {end.score}")]
    return play.ends(end)


async def consult(
    args: Any,
    settings: Settings,
    sample: Sample,
    sampling: Mapping[str, Any],
    *,
    evaluation: bool,
    stops: Callable[[], bool],
) -> list[Sample]:
    """Plays a sample's consultation, or goes on with it. Several samples where its history was rewritten on the way.

    stops: whether the rollout is over, so that nothing more is drawn.
    @raises BadJob; Refused and EngineRefused for what would be refused again
    """
    play = Play(args, settings, sample)
    options = settings.options(seed_of(sample, settings.job.session, evaluation=evaluation))
    try:
        async with await shared_client().open(options, play.draws) as session:
            if isinstance(session.next, SessionEnd) and not play.draws:
                raise BadJob(
                    f"Expected room to draw after the first ids to read, got none: context_length is {options.context_length}"
                )
            engine = shared_engine(settings.router)
            return await _converse(play, session, engine, sampling, stops)
    except LostConsultation as lost:
        return [play.fails(str(lost))]


_STOCK = "slime.rollout.sglang_rollout.generate_rollout"


async def generate(
    args: Any, sample: Sample, sampling_params: dict[str, Any], evaluation: bool = False
) -> Sample | list[Sample]:
    """slime's --custom-generate-function-path: one consultation, for its own rollout functions.

    One at which the world failed comes back aborted, removed and without a reward: slime's fully asynchronous rollout
    plays its group again, its stock rollout needs the filter `keep_whole_groups` to replace it. One whose history was
    rewritten is a list of samples where the job strips reasoning; else the sample that drew most.
    @raises BadJob where that filter is missing
    """
    stock = getattr(args, "rollout_function_path", None) == _STOCK
    if stock and not evaluation and not argument(args, "dynamic_sampling_filter_path"):
        raise BadJob(
            "Expected --dynamic-sampling-filter-path bedside_trainers.slime.keep_whole_groups with slime's stock "
            "rollout: it replaces consultations at which the world failed"
        )
    settings = settings_of(args)
    several = settings.job.history == "strip-reasoning"
    if several and settings.partial and stock:
        raise BadJob("Expected no --partial-rollout where history is stripped: slime keeps no list of samples")
    samples = await consult(
        args,
        settings,
        sample,
        sampling_of(args, evaluation=evaluation) | sampling_params,
        evaluation=evaluation,
        stops=lambda: stock_rollout_stops(args),
    )
    if several and samples[0].status != Sample.Status.ABORTED:
        return samples
    # A fork that nobody expected, by ids that a template cannot render: slime wants one shape of all.
    longest = max(samples, key=lambda one: one.effective_response_length)
    longest.metadata["bedside"]["untrained_samples"] = len(samples) - 1
    return longest
