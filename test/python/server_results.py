"""Results: kept, failed, counted; run by test/trainers/python/server.slow.test.ts."""

import threading

import numpy as np
from server_harness import OWN, V1, BigramEngine, Serving, backward, datum, report, step


class Results(Serving):
    def test_results_can_be_read_again_and_unknown_ones_cannot(self):
        server = self.start()
        future = server.ok("forward_backward", backward(server.model(), 1))
        self.assertEqual(server.result(future), server.result(future))
        self.assertEqual(server.post("retrieve_future", {"request_id": "r1"})[0], 404)

    def test_a_result_not_there_yet_is_asked_for_again(self):
        gate = threading.Event()
        server = self.start(BigramEngine(gate), poll_seconds=0.02)
        future = server.ok("forward_backward", backward(server.model(), 1))
        status, reply = server.post("retrieve_future", {"request_id": future["request_id"]})
        again = {"type": "try_again", "request_id": future["request_id"], "queue_state": "active"}
        self.assertEqual((status, reply), (408, again))
        gate.set()
        while status == 408:
            status, reply = server.post("retrieve_future", {"request_id": future["request_id"]})
        self.assertEqual(reply["type"], "forward_backward")

    def test_results_are_kept_within_bytes_those_read_dropped_first(self):
        server = self.start(kept_bytes=4000)
        model = server.model()
        unread = server.ok("optim_step", step(model, 1))
        read = server.ok("optim_step", step(model, 2))
        server.result(read)
        for number in range(3, 6):
            server.run("optim_step", step(model, number))
        self.assertIn("kept no longer", server.result(read)["error"])
        self.assertEqual(server.result(unread)["type"], "optim_step")

    def test_no_step_after_a_gradient_that_is_not_finite(self):
        server = self.start()
        model = server.model()
        good = datum(logprobs=[0.0, -2.0, -2.0], advantages=[0.0, 1.0, 1.0])
        bad = datum(logprobs=[0.0, -1e5, -2.0], advantages=[0.0, 1.0, 1.0])
        before = server.engine.tables[model].copy()
        loss = "importance_sampling"
        server.run("forward_backward", backward(model, 1, [good], loss))
        failed = server.run("forward_backward", backward(model, 2, [bad], loss))
        self.assertEqual(failed["category"], "User")
        server.run("forward_backward", backward(model, 3, [good], loss))
        refused = server.run("optim_step", step(model, 4))
        self.assertIn("seq_id 2 failed", refused["error"])
        np.testing.assert_array_equal(server.engine.tables[model], before)
        server.run("forward_backward", backward(model, 5, [good], loss))
        stepped = server.run("optim_step", step(model, 6))["metrics"]["grad_norm:mean"]
        fresh = server.model()
        server.run("forward_backward", backward(fresh, 1, [good], loss))
        self.assertEqual(
            server.run("optim_step", step(fresh, 2))["metrics"]["grad_norm:mean"], stepped
        )

    def test_metrics_count_what_was_asked(self):
        server = self.start()
        model = server.model()
        server.run("forward_backward", backward(model, 1))
        server.post("forward_backward", b"{")
        server.ok("optim_step", step(model, 3))
        _, _, text = server.request("GET", f"{OWN}/metrics")
        lines = dict(line.rsplit(" ", 1) for line in text.decode().splitlines() if line[0] != "#")
        route = f'bedside_requests_total{{route="{V1}/forward_backward"'
        self.assertEqual(
            (lines[f'{route},status="200"}}'], lines[f'{route},status="422"}}']), ("1", "1")
        )
        self.assertEqual((lines["bedside_models"], lines["bedside_queue_training"]), ("1", "1"))
        self.assertGreater(float(lines["bedside_resident_bytes"]), 1e6)


if __name__ == "__main__":
    report(__name__)
