"""Several targets per position: run by test/trainers/python/server.slow.test.ts."""

import numpy as np
from server_harness import (
    PROTO,
    V1,
    Serving,
    backward,
    datum,
    message_class,
    report,
    step,
    tensor,
)

TARGETS = np.array([[2, 5], [3, 0], [4, 0]])
WEIGHTS = np.array([[0.5, 0.25], [1.0, 0.0], [0.75, 0.0]])


def dense(values, dtype):
    return {**tensor(values.ravel().tolist(), dtype), "shape": list(values.shape)}


def sparse(values, dtype):
    rows, columns = np.nonzero(values)
    starts = np.searchsorted(rows, np.arange(len(values) + 1))
    listed = tensor(values[rows, columns].tolist(), dtype)
    indices = {"sparse_crow_indices": starts.tolist(), "sparse_col_indices": columns.tolist()}
    return {**listed, "shape": list(values.shape), **indices}


def several(form):
    made = datum()
    inputs = {"target_tokens": form(TARGETS, "int64"), "weights": form(WEIGHTS, "float32")}
    return {**made, "loss_fn_inputs": inputs}


def proto(model, seq_id):
    """`several(sparse)` in protobuf."""
    request = message_class("ForwardBackwardRequest")(
        model_id=model, seq_id=seq_id, loss_fn="cross_entropy"
    )
    added = request.data.add()
    added.model_input.add().encoded_text.tokens = np.array([1, 2, 3], "<i4").tobytes()
    for name, values, dtype, kind in (
        ("target_tokens", TARGETS, 2, "<i8"),
        ("weights", WEIGHTS, 1, "<f4"),
    ):
        made = sparse(values, "int64")
        input_ = added.loss_fn_inputs[name]
        input_.dtype = dtype
        input_.shape.extend(values.shape)
        input_.sparse_csr.values = np.array(made["data"], kind).tobytes()
        input_.sparse_csr.crow_indices = np.array(made["sparse_crow_indices"], "<i8").tobytes()
        input_.sparse_csr.col_indices = np.array(made["sparse_col_indices"], "<i8").tobytes()
    return request.SerializeToString()


class Targets(Serving):
    def test_the_loss_is_the_sum_over_targets_however_they_are_sent(self):
        server = self.start()
        columns = [
            datum(targets=TARGETS[:, at].tolist(), weights=WEIGHTS[:, at].tolist()) for at in (0, 1)
        ]
        norms, losses, scores = [], [], []
        for make in (
            lambda model: (backward(model, 1, columns), {}),
            lambda model: (backward(model, 1, [several(dense)]), {}),
            lambda model: (backward(model, 1, [several(sparse)]), {}),
            lambda model: (proto(model, 1), PROTO),
        ):
            model = server.model(seed=4)
            body, headers = make(model)
            passed = server.run("forward_backward", body, **headers)
            losses.append(passed["metrics"]["loss:sum"])
            scores.append([output["logprobs"] for output in passed["loss_fn_outputs"]])
            norms.append(server.run("optim_step", step(model, 2))["metrics"]["grad_norm:mean"])
        np.testing.assert_allclose(norms, norms[0], rtol=1e-12)
        np.testing.assert_allclose(losses, losses[0], rtol=1e-12)
        expected = np.stack([one["data"] for one in scores[0]], 1)
        for (score,) in scores[1:]:
            self.assertEqual(score["shape"], [3, 2])
            np.testing.assert_array_equal(np.reshape(score["data"], (3, 2)), expected)

    def test_answers_in_protobuf_have_their_shapes(self):
        server = self.start()
        data = [datum(weights=[1.0] * 3), several(dense), several(dense)]
        future = server.ok("forward_backward", backward(server.model(), 1, data))
        in_json = server.result(future)["loss_fn_outputs"]
        asked = b'{"request_id":"%s"}' % future["request_id"].encode()
        _, _, raw = server.request(
            "POST", f"{V1}/retrieve_future", asked, Accept="application/x-protobuf"
        )
        records = message_class("ForwardBackwardOutput").FromString(raw).loss_fn_outputs
        self.assertEqual([record.num_datums for record in records], [1, 2])
        shapes = [list(record.fields["logprobs"].trailing_shape) for record in records]
        self.assertEqual(shapes, [[], [2]])
        flat = [np.frombuffer(record.fields["logprobs"].data, "<f4") for record in records]
        expected = np.concatenate([output["logprobs"]["data"] for output in in_json])
        np.testing.assert_array_equal(np.concatenate(flat), expected.astype("<f4"))

    def test_what_is_no_matrix_is_refused(self):
        server = self.start()
        model = server.model()
        weights = ("loss_fn_inputs", "weights")
        for number, (key, value, says) in enumerate(
            (
                ("sparse_crow_indices", [0, 2, 3], "compressed rows of the shape [3, 2]"),
                ("sparse_crow_indices", [0, 3, 2, 4], "compressed rows"),
                ("sparse_col_indices", [0, 1, 2, 0], "column indices from 0 to 1"),
                ("shape", [6], "shape: expected [N, K]"),
                ("shape", [2, 3], "compressed rows of the shape [2, 3]"),
                ("shape", [3, 10**12], "K at most 256"),
                ("shape", [3, -1], "shape: expected [N, K]"),
                ("shape", [-1, 2], "shape: expected [N, K]"),
            ),
            1,
        ):
            bad = several(sparse)
            bad[weights[0]][weights[1]][key] = value
            body = backward(model, number, [bad])
            self.refused(server, "forward_backward", body, 422, says)
        ratio = datum(logprobs=[0.0] * 3, advantages=[0.0] * 3)
        ratio["loss_fn_inputs"]["target_tokens"] = dense(TARGETS, "int64")
        body = backward(model, 9, [ratio], "importance_sampling")
        self.refused(server, "forward_backward", body, 422, "target_tokens: expected the shape [3]")


if __name__ == "__main__":
    report(__name__)
