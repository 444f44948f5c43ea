"""Training data that are refused, and what is said: run by test/trainers/python/server.slow.test.ts."""

import copy
import json

from server_harness import (
    PROTO,
    Refusing,
    backward,
    datum,
    message_class,
    proto_backward,
    read_data,
    read_message,
    read_turn,
    report,
    step,
)

# Of the official client: model "m", seq 3, "ppo", clip_low_threshold .8.
GOLDEN = (
    "0a016d10031a640a100a0e0a0c010000000200000003000000121e0a077765696768747312130a0c00000000"
    "0000803f0000803f180122010312300a0d7461726765745f746f6b656e73121f0a1802000000000000000300"
    "00000000000004000000000000001802220103220370706f2a1d0a12636c69705f6c6f775f7468726573686f"
    "6c64119a9999999999e93f3a1f0a12636c69705f6c6f775f7468726573686f6c641209099a9999999999e93f"
)


def put(body, path, value):
    *keys, last = path
    at = body
    for key in keys:
        at = at[key]
    at[last] = value


DATUM = ("forward_backward_input", "data", 0)
INPUTS = (*DATUM, "loss_fn_inputs")
WEIGHTS = (*INPUTS, "weights")
CHUNK = (*DATUM, "model_input", "chunks", 0)
# A place in the body, the value put there, and what the refusal says.
BAD = [
    (("seq_id",), 0, "seq_id: expected an integer from 1"),
    (("seq_id",), "1", "seq_id: expected an integer"),
    (("seq_id",), True, "seq_id: expected an integer"),
    (("seq_id",), None, "seq_id: expected an integer"),
    (("model_id",), 7, "model_id: expected a text, received 7"),
    (("forward_backward_input",), [], "forward_backward_input: expected an object"),
    (("forward_backward_input", "loss_fn"), "mse", "loss_fn: expected one of cross_entropy"),
    (("forward_backward_input", "loss_fn"), "bedside", "loss_fn: expected one of"),
    (("forward_backward_input", "loss_fn"), "dro", "a loss of this engine"),
    (
        ("forward_backward_input", "loss_fn_config"),
        {"beta": 1},
        "loss_fn_config.beta: expected only",
    ),
    (("forward_backward_input", "data"), [], "data: expected 1 to 8 datums, received '0 datums'"),
    (("forward_backward_input", "data"), [datum()] * 9, "expected 1 to 8 datums"),
    (DATUM, 3, "data[0]: expected an object, received 3"),
    ((*CHUNK, "type"), "image", "chunks[0].type: expected one of encoded_text"),
    ((*CHUNK, "tokens"), [1, 2.5, 3], "chunks[0].tokens: expected a list of integers"),
    ((*CHUNK, "tokens"), [1, True, 3], "expected a list of integers"),
    ((*CHUNK, "tokens"), [], "data[0].model_input: expected 1 to 32 tokens"),
    ((*CHUNK, "tokens"), [1] * 33, "expected 1 to 32 tokens"),
    (
        (*CHUNK, "tokens"),
        [1, 12, 3],
        "model_input[1]: expected a token id from 0 to 11, received 12",
    ),
    ((*CHUNK, "tokens"), [-1, 2, 3], "model_input[0]: expected a token id"),
    ((*CHUNK, "tokens"), [2**70, 2, 3], "expected integers of 64 bits"),
    ((*INPUTS, "target_tokens", "data"), [1, 99, 3], "target_tokens[1]: expected a token id"),
    ((*INPUTS, "target_tokens", "dtype"), "float32", "target_tokens: expected int64"),
    ((*INPUTS, "target_tokens"), None, "target_tokens: expected an object"),
    ((*WEIGHTS, "dtype"), "float64", "weights.dtype: expected one of int64, float32"),
    ((*WEIGHTS, "dtype"), "int64", "weights.data: expected a list of integers"),
    ((*WEIGHTS, "data"), [0.0, 1.0], "weights.shape: expected [2]"),
    (WEIGHTS, {"data": [1.0], "dtype": "float32"}, "weights: expected the shape [3]"),
    ((*WEIGHTS, "shape"), [3, 1], "weights: expected the shape [3]"),
    ((*WEIGHTS, "shape"), [1, 3, 1], "weights.shape: expected [3], or [N, K]"),
    ((*WEIGHTS, "data"), [0, 1, None], "weights.data: expected a list of numbers"),
    ((*WEIGHTS, "data"), "0 1 1", "weights.data: expected a list"),
    ((*WEIGHTS, "sparse_crow_indices"), [0, 1], "sparse_col_indices: expected a list"),
    ((*INPUTS, "target_tokens", "shape"), [3, 1], "weights: expected the shape [3, 1]"),
    ((*INPUTS, "target_tokens", "shape"), [1, 3], "target_tokens: expected the shape [3, 3]"),
    ((*INPUTS, "mask"), {"data": [1, 1, 1], "dtype": "float32"}, "mask: expected only the inputs"),
]


class Bodies(Refusing):
    def test_the_golden_request_of_the_official_client_decodes(self):
        request = read_message(bytes.fromhex(GOLDEN))
        turn = read_turn(request)
        self.assertEqual((turn.model_id, turn.seq_id), ("m", 3))
        self.assertEqual((request.loss_fn, request.config), ("ppo", {"clip_low_threshold": 0.8}))
        (only,) = read_data(request)
        self.assertEqual(only.tokens.tolist(), [1, 2, 3])
        inputs = {name: values.tolist() for name, values in only.inputs.items()}
        self.assertEqual(inputs, {"target_tokens": [2, 3, 4], "weights": [0, 1, 1]})

    def test_each_bad_value_is_refused_with_its_place(self):
        for place, value, says in BAD:
            with self.subTest(says):
                body = copy.deepcopy(backward(self.model, 1))
                put(body, place, value)
                self.refused("forward_backward", body, says)

    def test_numbers_that_are_not_finite(self):
        text = json.dumps(backward(self.model, 1))
        for value, says in (
            ("NaN", "finite"),
            ("-Infinity", "finite"),
            ("1e999", "weights[1]: expected a finite"),
        ):
            self.refused("forward_backward", text.replace("1.0", value, 1).encode(), says)
        self.refused(
            "optim_step", step(self.model, 1, 10**400), "learning_rate: expected a finite number"
        )
        self.refused(
            "optim_step",
            step(self.model, 1, -1),
            "learning_rate: expected a finite number of at least 0",
        )

    def test_what_is_no_protobuf(self):
        good = proto_backward(self.model, 1)
        self.refused(
            "forward_backward", good[:-3], "body: expected a ForwardBackwardRequest", **PROTO
        )
        request = message_class("ForwardBackwardRequest").FromString(good)
        request.data[0].loss_fn_inputs["weights"].dense += b"\0"
        self.refused(
            "forward_backward", request.SerializeToString(), "multiple of 4 bytes", **PROTO
        )
        request.data[0].loss_fn_inputs["weights"].dense = bytes.fromhex("0000c07f") * 3
        self.refused(
            "forward_backward",
            request.SerializeToString(),
            "weights[0]: expected a finite",
            **PROTO,
        )
        request.data[0].loss_fn_inputs["weights"].dtype = 9
        self.refused("forward_backward", request.SerializeToString(), "expected a dtype", **PROTO)
        request.data[0].model_input[0].image = b"png"
        self.refused(
            "forward_backward", request.SerializeToString(), "chunk of encoded_text", **PROTO
        )
        self.refused(
            "forward_backward", good, "content-encoding", 415, Content_Encoding="zstd", **PROTO
        )


if __name__ == "__main__":
    report(__name__)
