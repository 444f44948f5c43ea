"""Numbers used up by refused requests, and numbers that never arrive: run by test/trainers/python/server.slow.test.ts."""

import copy
import json
import time

import numpy as np
from server_bodies import BAD, put
from server_harness import (
    OWN,
    PROTO,
    Serving,
    backward,
    message_class,
    proto_backward,
    report,
    step,
)

# Refused for a reason other than the place in the sequence: those that have no number cannot use it up.
UNNUMBERED = ("seq_id", "model_id")
ANSWER_SECONDS = 2.0


def broken_protos(model, seq_id):
    """Bodies in protobuf that are refused, by what is wrong."""

    def change(edit):
        request = message_class("ForwardBackwardRequest").FromString(proto_backward(model, seq_id))
        edit(request)
        return request.SerializeToString()

    def token(request):
        request.data[0].model_input[0].encoded_text.tokens = b"\x63\0\0\0" * 3

    def length(request):
        request.data[0].model_input[0].encoded_text.tokens = b"\1\0\0\0" * 33

    def nan(request):
        request.data[0].loss_fn_inputs["weights"].dense = bytes.fromhex("0000c07f") * 3

    def loss(request):
        request.loss_fn = "mse"

    def image(request):
        request.data[0].model_input[0].image = b"png"

    def shape(request):
        request.data[0].loss_fn_inputs["weights"].shape[0] = 5

    def data(request):
        del request.data[:]

    changes = (token, length, nan, loss, image, shape, data)
    return {edit.__name__: change(edit) for edit in changes}


def refusals(model, seq_id):
    """Requests of one number that are refused: name, route, body, headers."""
    good = backward(model, seq_id)
    for place, value, says in BAD:
        if place[0] not in UNNUMBERED:
            body = copy.deepcopy(good)
            put(body, place, value)
            yield says, "forward_backward", body, {}
    for value in ("NaN", "-Infinity", "1e999"):
        yield value, "forward_backward", json.dumps(good).replace("1.0", value, 1).encode(), {}
    for name, body in broken_protos(model, seq_id).items():
        yield f"protobuf {name}", "forward_backward", body, PROTO
    yield "own loss", f"{OWN}/forward_backward", backward(model, seq_id, loss="mse"), {}
    forward = {"model_id": model, "seq_id": seq_id, "forward_input": {"data": [], "loss_fn": "x"}}
    yield "forward", "forward", forward, {}
    for rate in (-1, 10**400, "fast", None):
        yield f"rate {rate}", "optim_step", step(model, seq_id, rate), {}
    nan_rate = json.dumps(step(model, seq_id)).replace("0.5", "NaN").encode()
    yield "rate NaN", "optim_step", nan_rate, {}
    named = {"model_id": model, "seq_id": seq_id, "path": ".."}
    yield "save", "save_weights", named, {}
    yield "save for sampler", "save_weights_for_sampler", named, {}
    yield "export", f"{OWN}/export", {**named, "format": "gguf"}, {}
    yield "load", "load_weights", {**named, "path": "x"}, {}
    # Two sampling sessions of one number, the second from another request.
    taken = {"model_id": model, "seq_id": seq_id, "sampling_session_seq_id": 0}
    yield "snapshot", "save_weights_for_sampler", taken, {}


class Order(Serving):
    def answer(self, server, path, body):
        """A result, and that it came soon."""
        began = time.monotonic()
        reply = server.run(path, body)
        self.assertLess(time.monotonic() - began, ANSWER_SECONDS)
        return reply

    def test_a_refused_request_uses_up_its_number(self):
        server = self.start(datums=8)
        session = server.session()
        model = server.model(session)
        taken = {"session_id": session, "sampling_session_seq_id": 0, "base_model": "tiny"}
        server.ok("create_sampling_session", taken)
        for index in range(len(list(refusals(model, 1)))):
            number = 4 * index + 1
            name, path, body, headers = list(refusals(model, number))[index]
            with self.subTest(name):
                status, reply = server.post(path, body, **headers)
                self.assertIn(status, (404, 409, 422), reply)
                stepped = self.answer(server, "optim_step", step(model, number + 1, 0.0))
                spoilt = path.endswith("forward_backward")
                self.assertEqual("error" in stepped, spoilt, stepped)
                if spoilt:
                    says = f"no step: forward_backward of seq_id {number} was refused"
                    self.assertIn(says, stepped["error"])
                again = self.answer(server, "forward_backward", backward(model, number + 2))
                self.assertIn("loss_fn_outputs", again)
                stepped = self.answer(server, "optim_step", step(model, number + 3, 0.0))
                self.assertGreater(stepped["metrics"]["grad_norm:mean"], 0)

    def test_a_used_up_number_is_not_taken_again(self):
        server = self.start()
        model = server.model()
        bad = backward(model, 1, loss="mse")
        for _ in range(2):
            self.refused(server, "forward_backward", bad, 422, "loss_fn: expected one of")
        self.refused(server, "forward_backward", backward(model, 1), 409, "used up by a refused")
        server.run("forward_backward", backward(model, 2))

    def test_no_step_on_the_rest_of_a_batch_of_which_a_part_was_refused(self):
        server = self.start()
        model = server.model(seed=5)
        before = server.engine.tables[model].copy()
        server.ok("optim_step", step(model, 4))
        server.ok("forward_backward", backward(model, 3))
        server.post("forward_backward", backward(model, 2, loss="mse"))
        server.ok("forward_backward", backward(model, 1))
        spoilt = server.result(server.ok("optim_step", step(model, 4)))
        self.assertIn("seq_id 2 was refused", spoilt["error"])
        np.testing.assert_array_equal(server.engine.tables[model], before)
        server.run("forward_backward", backward(model, 5))
        norm = server.run("optim_step", step(model, 6))["metrics"]["grad_norm:mean"]
        fresh = server.model(seed=5)
        server.run("forward_backward", backward(fresh, 1))
        self.assertEqual(
            server.run("optim_step", step(fresh, 2))["metrics"]["grad_norm:mean"], norm
        )

    def test_a_number_that_never_arrives_fails_what_waits_for_it(self):
        server = self.start(missing_seconds=0.3)
        model = server.model()
        before = server.engine.tables[model].copy()
        server.run("forward_backward", backward(model, 1))
        waiting = [
            server.ok("forward_backward", backward(model, 3)),
            server.ok("optim_step", step(model, 4)),
            server.ok("save_weights", {"model_id": model, "seq_id": 6, "path": "a"}),
        ]
        for future in waiting:
            failed = server.result(future)
            self.assertIn("seq_id 2 never arrived", failed["error"])
            self.assertEqual(failed["category"], "User")
        self.assertEqual([entry[1] for entry in server.engine.log], ["backward"])
        np.testing.assert_array_equal(server.engine.tables[model], before)
        # A batch that was begun before is not stepped on, since a part of it may be what is missing.
        half = server.run("optim_step", step(model, 7))
        self.assertIn("no step: seq_id 2 never arrived", half["error"])
        server.run("forward_backward", backward(model, 8))
        norm = server.run("optim_step", step(model, 9))["metrics"]["grad_norm:mean"]
        self.assertGreater(norm, 0)
        for late in (2, 5):
            self.refused(server, "optim_step", step(model, late), 422, "seq_id: expected at least 10")

    def test_a_number_that_arrives_late_but_in_time_is_served(self):
        server = self.start(missing_seconds=0.6)
        model = server.model()
        other = server.ok("optim_step", step(model, 3))
        for _ in range(3):
            # The wait is from the last request of the model.
            time.sleep(0.3)
            server.ok("forward_backward", backward(model, 2))
        server.ok("forward_backward", backward(model, 1))
        self.assertIn("metrics", server.result(other))


if __name__ == "__main__":
    report(__name__)
