"""Sampling and the weights it is done from: run by test/trainers/python/server.slow.test.ts."""

import threading

import numpy as np
from server_harness import (
    V1,
    BigramEngine,
    Serving,
    backward,
    message_class,
    report,
    step,
)


def sample(tokens=(1, 2), count=1, seed=None, source=None, **params):
    params |= {"max_tokens": params.get("max_tokens", 8)} | ({} if seed is None else {"seed": seed})
    prompt = {"chunks": [{"type": "encoded_text", "tokens": list(tokens)}]}
    given = {"prompt": prompt, "num_samples": count, "sampling_params": params}
    return given | (source or {"base_model": "tiny"})


class Sampling(Serving):
    def test_a_seed_decides_the_draws_whatever_else_is_drawn(self):
        server = self.start()
        alone = server.run("asample", sample(count=3, seed=7))["sequences"]
        futures = [server.ok("asample", sample(count=3, seed=seed)) for seed in (5, 7, 7)]
        others = [server.result(future)["sequences"] for future in futures]
        self.assertEqual(others[1:], [alone, alone])
        self.assertNotEqual(others[0], alone)
        self.assertEqual(len({str(each) for each in alone}), 3)
        unseeded = [str(server.run("asample", sample())["sequences"]) for _ in range(4)]
        self.assertEqual(len(set(unseeded)), 4)

    def test_stops_scores_and_both_dialects(self):
        server = self.start()
        body = sample((1, 2, 3), 2, 3, stop=[4, 5, 6], max_tokens=30)
        future = server.ok("asample", {**body, "prompt_logprobs": True})
        self.assertEqual(len(set(future["sample_sequence_ids"])), 2)
        drawn = server.result(future)
        self.assertEqual(drawn["prompt_logprobs"][0], None)
        np.testing.assert_allclose(drawn["prompt_logprobs"][1:], -np.log(12))
        for sequence in drawn["sequences"]:
            *before, last = sequence["tokens"]
            self.assertEqual(set(before) & {4, 5, 6}, set())
            self.assertEqual(sequence["stop_reason"] == "stop", last in (4, 5, 6))
        asked = b'{"request_id":"%s"}' % future["request_id"].encode()
        _, _, raw = server.request(
            "POST", f"{V1}/retrieve_future", asked, Accept="application/x-protobuf"
        )
        response = message_class("SampleResponse").FromString(raw)
        tokens = [np.frombuffer(each.tokens, "<i4").tolist() for each in response.sequences]
        self.assertEqual(tokens, [each["tokens"] for each in drawn["sequences"]])
        scores = np.frombuffer(response.prompt_logprobs, "<f4")
        self.assertEqual(np.isnan(scores).tolist(), [True, False, False])

    def test_a_prompt_leaves_room_in_the_context(self):
        server = self.start()
        (sequence,) = server.run("asample", sample([1] * 30, max_tokens=99))["sequences"]
        self.assertEqual(len(sequence["tokens"]), 2)

    def test_sampling_sessions_hold_the_weights_of_their_moment(self):
        server = self.start(snapshots=2)
        model = server.model()

        def session(seq_id, number):
            body = {"model_id": model, "seq_id": seq_id, "sampling_session_seq_id": number}
            return {
                "sampling_session_id": server.run("save_weights_for_sampler", body)[
                    "sampling_session_id"
                ]
            }

        early = session(1, 0)
        body = sample(seed=3, source=early)
        before = server.run("asample", body)
        for seq_id in (2, 4, 6):
            server.run("forward_backward", backward(model, seq_id))
            server.run("optim_step", step(model, seq_id + 1, 5.0))
        self.assertEqual(server.run("asample", body)["sequences"], before["sequences"])
        late = session(8, 1)
        self.assertNotEqual(server.run("asample", sample(seed=3, source=late)), before)
        session(9, 2)
        dropped = server.run("asample", body)
        self.assertIn("were dropped for newer ones (2 are kept)", dropped["error"])
        self.assertLessEqual(len(server.engine.snapshots), 2)
        self.assertEqual(server.run("asample", sample(seed=3, source=late))["type"], "sample")

    def test_checkpoints_are_sampled_from_and_loaded_again_when_dropped(self):
        server = self.start(snapshots=1)
        model = server.model()
        save = {"model_id": model, "seq_id": 1, "path": "s", "kind": "snapshot"}
        path = server.run("save_weights_for_sampler", save)["path"]
        self.assertEqual(path, f"tinker://{model}/sampler_weights/s")
        opened = {
            "session_id": model.split(":")[0],
            "sampling_session_seq_id": 5,
            "model_path": path,
        }
        source = {
            "sampling_session_id": server.ok("create_sampling_session", opened)[
                "sampling_session_id"
            ]
        }
        drawn = [
            server.run("asample", sample(seed=1, source=each))
            for each in (source, None, source, {"model_path": path})
        ]
        self.assertEqual(drawn[0], drawn[2])
        self.assertEqual(drawn[0], drawn[3])
        self.assertNotEqual(drawn[0], drawn[1])
        _, _, body = server.request("GET", f"{V1}/samplers/{source['sampling_session_id']}")
        self.assertIn(path.encode(), body)

    def test_a_repeated_sampling_request_is_drawn_once(self):
        server = self.start()
        opened = {
            "session_id": server.session(),
            "sampling_session_seq_id": 0,
            "base_model": "tiny",
        }
        source = server.ok("create_sampling_session", opened)
        source = {"sampling_session_id": source["sampling_session_id"], "seq_id": 0}
        self.assertEqual(*(server.ok("asample", sample(source=source)) for _ in range(2)))
        later = server.ok("asample", sample(source={**source, "seq_id": 1}))
        self.assertNotEqual(later, server.ok("asample", sample(source=source)))

    def test_cancelling_ends_the_draw_and_nothing_else(self):
        gate = threading.Event()
        server = self.start(BigramEngine(gate))
        training = server.ok("forward_backward", backward(server.model(), 1))
        future, other = (server.ok("asample", sample(seed=1, max_tokens=30)) for _ in range(2))
        server.ok("cancel_future", {"request_id": future["request_id"]})
        server.ok("cancel_future", {"request_id": training["request_id"]})
        gate.set()
        self.assertEqual(server.result(future), {"error": "cancelled", "category": "User"})
        self.assertEqual(server.result(other)["type"], "sample")
        self.assertEqual(server.result(training)["type"], "forward_backward")
        self.refused(server, "cancel_future", {"request_id": "r"}, 404, "no request")

    def test_too_many_sequences_at_once_are_asked_to_come_again(self):
        gate = threading.Event()
        server = self.start(BigramEngine(gate), samples=4)
        server.ok("forward_backward", backward(server.model(), 1))
        future = server.ok("asample", sample(count=3))
        self.refused(server, "asample", sample(count=2), 429, "ask again")
        gate.set()
        server.result(future)
        self.assertEqual(len(server.run("asample", sample(count=4))["sequences"]), 4)

    def test_sampling_goes_on_between_training_requests(self):
        gate = threading.Event()
        server = self.start(BigramEngine(gate))
        model = server.model()
        futures = [server.ok("forward_backward", backward(model, n)) for n in range(1, 201)]
        drawn = server.ok("asample", sample(max_tokens=20))
        watch = server.service.parts.futures.resolve
        ended = []
        server.service.parts.futures.resolve = lambda id_, answer: (
            ended.append(id_),
            watch(id_, answer),
        )
        gate.set()
        server.result(futures[-1])
        server.result(drawn)
        self.assertLess(ended.index(drawn["request_id"]), ended.index(futures[-1]["request_id"]))


if __name__ == "__main__":
    report(__name__)
