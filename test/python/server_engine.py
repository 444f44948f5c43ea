"""A bigram table as an engine, with exact gradients, to test the server around it with."""

import json
import math

import numpy as np

from bedside_trainers.engines.engine import (
    EngineError,
    EngineInfo,
    ForwardResult,
    ModelInfo,
    ModelSpec,
    NonFinite,
    Sampled,
)

VOCAB, CONTEXT = 12, 32


def log_softmax(logits):
    shifted = logits - logits.max(-1, keepdims=True)
    return shifted - np.log(np.exp(shifted).sum(-1, keepdims=True))


class BigramEngine:
    """Row t of a table gives the logits of what follows token t."""

    info = EngineInfo(
        engine="bigram",
        device="cpu",
        dtype="float64",
        versions={"numpy": np.__version__},
        model_name="tiny",
        model_path="/tiny",
        arch="bigram",
        context_length=CONTEXT,
        vocab_size=VOCAB,
        parameters=VOCAB * VOCAB,
        tied_embeddings=False,
        losses=("cross_entropy", "importance_sampling", "bedside"),
    )

    def __init__(self, gate=None):
        self.tables, self.gradients, self.snapshots, self.specs = {}, {}, {}, {}
        self.jobs, self.drawn, self.log = {}, {}, []
        # Held before every pass while it is cleared.
        self.gate = gate
        self.full = False

    def create(self, model_id, spec):
        if spec.rank > VOCAB:
            raise EngineError(f"rank: expected at most {VOCAB}, received {spec.rank}")
        rng = np.random.default_rng(spec.seed)
        self.tables[model_id] = rng.normal(size=(VOCAB, VOCAB)) * 0.1
        self.gradients[model_id] = np.zeros((VOCAB, VOCAB))
        self.specs[model_id] = spec
        return ModelInfo(spec, VOCAB * VOCAB, ["a note"])

    def unload(self, model_id):
        for held in (self.tables, self.gradients, self.specs):
            del held[model_id]

    def discard(self, model_id):
        self.gradients[model_id][:] = 0

    def _pass(self, model_id, data, loss, backward):
        self.log.append((model_id, "backward" if backward else "forward", len(data)))
        if self.gate is not None:
            self.gate.wait()
        outputs, total = [], 0.0
        for datum in data:
            rows = log_softmax(self.tables[model_id][datum.tokens])
            targets = datum.inputs["target_tokens"]
            logprobs = rows[np.arange(len(targets)), targets]
            outputs.append({"logprobs": logprobs})
            if not backward:
                continue
            if loss.name == "cross_entropy":
                slopes = -datum.inputs["weights"]
                total += float((slopes * logprobs).sum())
            else:
                ratio = np.exp(logprobs - datum.inputs["logprobs"])
                slopes = -ratio * datum.inputs["advantages"]
                total += float(slopes.sum())
            if not np.isfinite(slopes).all():
                raise NonFinite("the loss is not finite")
            slope = -np.exp(rows) * slopes[:, None]
            slope[np.arange(len(targets)), targets] += slopes
            np.add.at(self.gradients[model_id], datum.tokens, slope)
        return ForwardResult(outputs, {"loss:sum": total})

    def forward(self, model_id, data, loss):
        return self._pass(model_id, data, loss, False)

    def forward_backward(self, model_id, data, loss):
        return self._pass(model_id, data, loss, True)

    def optim_step(self, model_id, adam):
        self.log.append((model_id, "step", adam.learning_rate))
        norm = math.sqrt((self.gradients[model_id] ** 2).sum())
        self.tables[model_id] -= adam.learning_rate * self.gradients[model_id]
        self.discard(model_id)
        return {"grad_norm:mean": norm}

    def save(self, model_id, folder, *, optimizer=True):
        if self.full:
            raise OSError(28, "No space left on device")
        folder.mkdir()
        np.save(folder / "table.npy", self.tables[model_id])
        spec = self.specs[model_id]
        (folder / "checkpoint.json").write_text(json.dumps({"rank": spec.rank, "seed": spec.seed}))

    def spec_of(self, folder):
        return ModelSpec(**json.loads((folder / "checkpoint.json").read_text()))

    def load(self, model_id, folder, *, optimizer):
        self.tables[model_id] = np.load(folder / "table.npy")

    def export(self, model_id, format, folder):
        folder.mkdir()
        np.save(folder / f"{format}.npy", self.tables[model_id])

    def snapshot(self, model_id, name):
        self.snapshots[name] = (
            np.zeros((VOCAB, VOCAB)) if model_id is None else self.tables[model_id].copy()
        )

    def load_snapshot(self, folder, name):
        self.snapshots[name] = np.load(folder / "table.npy")

    snapshots_full = False

    def drop_snapshot(self, name):
        del self.snapshots[name]

    def submit(self, job):
        if job.snapshot not in self.snapshots:
            raise EngineError(f"no snapshot {job.snapshot}")
        self.jobs[job.key], self.drawn[job.key] = job, ([], [])

    def cancel(self, key):
        self.jobs.pop(key, None)

    @property
    def waiting(self):
        return len(self.jobs)

    def advance(self):
        finished = [sampled for job in list(self.jobs.values()) if (sampled := self._draw(job))]
        for sampled in finished:
            del self.jobs[sampled.key]
        return finished

    def _draw(self, job):
        tokens, logprobs = self.drawn[job.key]
        table = self.snapshots[job.snapshot]
        last = [*job.prompt, *tokens][-1]
        row = log_softmax(table[last] / (job.temperature or 1))
        rng = np.random.default_rng([job.seed, len(tokens)])
        token = int(rng.choice(VOCAB, p=np.exp(row)) if job.temperature else row.argmax())
        tokens.append(token)
        logprobs.append(float(row[token]))
        if token not in job.stop_tokens and len(tokens) < job.max_tokens:
            return None
        scores = None
        if job.prompt_logprobs:
            rows = log_softmax(table[job.prompt[:-1]])
            scores = np.array([math.nan, *rows[np.arange(len(rows)), job.prompt[1:]]])
        reason = "stop" if token in job.stop_tokens else "length"
        return Sampled(job.key, tokens, logprobs, reason, scores)

    def metrics(self):
        return {"jobs": len(self.jobs)}
