"""Token parity: what slime trains on is what was drawn, over random consultations."""

import json
import sys
import time

from slime_rollouts import Drawing, GENUINE, SeedSource, Serving, arguments, first_of, flat, generate_rollout, parity

given = json.load(sys.stdin)
drawing = Drawing(given["tokenizer"], seed=given.get("seed", 0))
serving = Serving(drawing)
groups = given["groups"]
args = arguments(serving.router, rollout_batch_size=groups, over_sampling_batch_size=groups, global_batch_size=groups * 4)
source = SeedSource(args)
started = time.perf_counter()
output = generate_rollout(args, 0, source)
seconds = time.perf_counter() - started
rollouts = [one for group in output.samples for one in group]
samples = flat(output.samples)
print(
    json.dumps(
        {
            "genuine": GENUINE,
            "consultations": len(rollouts),
            "samples": len(samples),
            "forks": output.metrics["bedside/forks"],
            "several": sum(isinstance(one, list) and len(one) > 1 for one in rollouts),
            "rewards": sorted({first_of(one).reward for one in rollouts})[:8],
            "unscored": sum(first_of(one).reward is None for one in rollouts),
            "statuses": sorted({one.status.value for one in samples}),
            "tokens": sum(sum(one.loss_mask) for one in samples),
            "draws": len(drawing.drawn),
            "seconds": seconds,
            **parity(samples, drawing.drawn),
        }
    )
)
