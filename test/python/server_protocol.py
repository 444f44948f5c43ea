"""The order of requests and their repetition: run by test/trainers/python/server.slow.test.ts."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from server_harness import (
    OWN,
    PROTO,
    V1,
    Serving,
    backward,
    datum,
    message_class,
    proto_backward,
    report,
    step,
)


class Protocol(Serving):
    def test_nothing_without_the_token_but_health(self):
        server = self.start()
        self.assertEqual(server.request("GET", f"{V1}/healthz", token=None)[0], 200)
        for token in (None, "", "tml-wrong", "tml-of-this-tes"):
            for method, path in (
                ("POST", f"{V1}/create_session"),
                ("GET", f"{OWN}/capabilities"),
                ("GET", f"{OWN}/metrics"),
                ("DELETE", f"{V1}/training_runs/a:train:0/checkpoints/weights/x"),
            ):
                status, _, body = server.request(method, path, b"{}", token=token)
                self.assertEqual(status, 401, (path, token))
                self.assertIn(b"X-API-Key", body)
                self.assertNotIn(b"tml-", body)

    def test_unknown_routes_and_methods(self):
        server = self.start()
        self.assertEqual(server.post("no_such_thing", {})[0], 404)
        self.assertEqual(server.post("no_such_thing", b"no JSON")[0], 404)
        self.assertEqual(server.request("PUT", f"{V1}/create_session")[0], 405)

    def test_seq_ids_decide_the_order_whatever_arrives_first(self):
        server = self.start()
        model = server.model()
        late = [
            server.ok("optim_step", step(model, 3)),
            server.ok("forward_backward", backward(model, 2, [datum(weights=[1.0] * 3)] * 2)),
        ]
        self.assertEqual(server.engine.log, [])
        server.run("forward_backward", backward(model, 1))
        for future in late:
            server.result(future)
        expected = [(model, "backward", 1), (model, "backward", 2), (model, "step", 0.5)]
        self.assertEqual(server.engine.log, expected)

    def test_a_batch_in_any_split_and_order_gives_the_same_gradient(self):
        server = self.start()
        data = [datum((n % 12, 3, 5), (n % 7, 1, 2), weights=[1.0, 0.0, 2.0]) for n in range(9)]
        norms = []
        for chunks in ([data], [data[:2], data[2:]], [[each] for each in data]):
            model = server.model(seed=3)
            numbers = list(range(1, len(chunks) + 1))
            np.random.default_rng(1).shuffle(numbers)
            for number in numbers:
                server.ok("forward_backward", backward(model, number, chunks[number - 1]))
            stepped = server.run("optim_step", step(model, len(chunks) + 1))
            norms.append(stepped["metrics"]["grad_norm:mean"])
        np.testing.assert_allclose(norms, norms[0], rtol=1e-12)

    def test_the_same_request_again_is_served_once(self):
        server = self.start()
        model = server.model()
        first = server.ok("forward_backward", backward(model, 1))
        again = server.ok("forward_backward", dict(reversed(backward(model, 1).items())))
        in_proto = server.ok("forward_backward", proto_backward(model, 1), **PROTO)
        self.assertEqual([again["request_id"], in_proto["request_id"]], [first["request_id"]] * 2)
        server.run("optim_step", step(model, 2))
        self.assertEqual(server.ok("forward_backward", backward(model, 1)), first)
        self.assertEqual(len(server.engine.log), 2)

    def test_another_request_under_a_taken_number_is_refused(self):
        server = self.start()
        model = server.model()
        server.run("forward_backward", backward(model, 1))
        for path, body in (
            ("forward_backward", backward(model, 1, [datum(weights=[0.0, 1.0, 0.5])])),
            ("optim_step", step(model, 1)),
            ("forward", {**backward(model, 1), "forward_input": _input(model)}),
        ):
            status, reply = server.post(path, body)
            self.assertEqual(status, 409, reply)
            self.assertIn("seq_id: 1", reply["error"])
        self.assertEqual(len(server.engine.log), 1)

    def test_any_order_of_arrival_and_any_repetition_is_served_in_order_once(self):
        server = self.start()
        model = server.model()
        bodies = [backward(model, n, [datum(weights=[float(n)] * 3)]) for n in range(1, 61)]
        sent = np.random.default_rng(2).permutation(np.repeat(np.arange(60), 3))
        with ThreadPoolExecutor(8) as pool:
            futures = list(pool.map(lambda n: server.ok("forward_backward", bodies[n]), sent))
        self.assertEqual(len({future["request_id"] for future in futures}), 60)
        server.run("optim_step", step(model, 61))
        self.assertEqual([entry[1] for entry in server.engine.log], ["backward"] * 60 + ["step"])
        whole = server.model()
        data = [datum(weights=[float(n)] * 3) for n in range(1, 61)]
        server.run("forward_backward", backward(whole, 1, data))
        server.run("optim_step", step(whole, 2))
        np.testing.assert_allclose(*(server.engine.tables[each] for each in (model, whole)))

    def test_models_do_not_wait_for_each_other(self):
        server = self.start()
        one, two = server.model(), server.model()
        server.ok("optim_step", step(one, 2))
        server.run("optim_step", step(two, 1))
        self.assertEqual(server.engine.log, [(two, "step", 0.5)])

    def test_both_dialects_say_the_same(self):
        server = self.start()
        model = server.model()
        future = server.ok("forward_backward", proto_backward(model, 1), **PROTO)
        in_json = server.result(future)
        body = b'{"request_id":"%s"}' % future["request_id"].encode()
        _, headers, raw = server.request(
            "POST", f"{V1}/retrieve_future", body, Accept="application/x-protobuf"
        )
        self.assertEqual(headers["content-type"], "application/x-protobuf")
        output = message_class("ForwardBackwardOutput").FromString(raw)
        self.assertEqual(dict(output.metrics), in_json["metrics"])
        record = output.loss_fn_outputs[0]
        self.assertEqual(record.num_datums, 1)
        values = np.frombuffer(record.fields["logprobs"].data, "<f4")
        expected = np.array(in_json["loss_fn_outputs"][0]["logprobs"]["data"], np.float32)
        np.testing.assert_array_equal(values, expected)
        np.testing.assert_array_equal(
            np.frombuffer(record.fields["logprobs"].offsets, "<i8"), [0, 12]
        )

    def test_forward_alone_adds_no_gradient(self):
        server = self.start()
        model = server.model()
        in_json = server.run(
            "forward", {"model_id": model, "seq_id": 1, "forward_input": _input(model)}
        )
        in_proto = server.run(
            "forward_backward", proto_backward(model, 2, forward_only=True), **PROTO
        )
        self.assertEqual(in_json["loss_fn_outputs"], in_proto["loss_fn_outputs"])
        stepped = server.run("optim_step", step(model, 3))
        self.assertEqual(stepped["metrics"]["grad_norm:mean"], 0)


def _input(model):
    return backward(model, 1)["forward_backward_input"]


if __name__ == "__main__":
    report(__name__)
