"""Requests beside training data that are refused: run by test/trainers/python/server.slow.test.ts."""

from server_harness import OWN, TOKEN, V1, Refusing, report, step


class Refusals(Refusing):
    def test_what_is_no_json_object(self):
        for body in (b"{", b"[1]", b"\xff\xfe", b'"x"', b"[" * 10_000):
            self.refused("create_session", body, "body: expected")

    def test_too_many_bytes_are_refused_unread(self):
        head = f"POST {V1}/create_session HTTP/1.1\r\nHost: a\r\nX-API-Key: {TOKEN}\r\n"
        declared = f"{head}Content-Length: 20001\r\nConnection: close\r\n\r\n"
        self.assertIn(b" 413 ", self.server.raw(declared.encode()).splitlines()[0])
        chunks = b"%x\r\n%s\r\n" % (15_000, b" " * 15_000)
        streamed = f"{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n".encode()
        self.assertIn(
            b" 413 ", self.server.raw(streamed, chunks * 2 + b"0\r\n\r\n").splitlines()[0]
        )

    def test_models_and_places_that_are_not_there(self):
        self.refused("optim_step", step("s:train:0", 1), "no model", 404)
        self.refused("session_heartbeat", {"session_id": "s"}, "no session", 404)
        session = self.server.session()
        made = {"session_id": session, "model_seq_id": 0, "base_model": "llama"}
        self.refused("create_model", made, "base_model: expected 'tiny', received 'llama'")
        made |= {"base_model": "tiny", "lora_config": {"rank": 0}}
        self.refused("create_model", made, "lora_config.rank: expected an integer from 1")
        made |= {"lora_config": {}, "optimizer_config": {"type": "dimuon"}}
        self.refused("create_model", made, "optimizer_config.type: expected one of adamw")
        other = {"session_id": session, "model_seq_id": 1, "base_model": "tiny"}
        failed = self.server.ok("create_model", {**other, "lora_config": {"rank": 13}})
        self.assertIn("rank: expected at most 12", self.server.result(failed)["error"])
        self.refused("optim_step", step(failed["model_id"], 1), "it could not be made", 404)

    def test_names_that_would_leave_the_state_directory(self):
        for name in ("..", "../x", "a/b", "/etc", ".hidden", "", "a\0", "é", "x" * 129):
            body = {"model_id": self.model, "seq_id": 1, "path": name}
            self.refused("save_weights", body, "path: expected a name")
            self.refused("save_weights_for_sampler", body, "path: expected a name")
            self.refused(f"{OWN}/export", {**body, "format": "adapter"}, "path: expected a name")
        for path in (
            "x",
            "tinker://../weights/x",
            f"tinker://{self.model}/weights/../x",
            "tinker://a:train:0/logs/x",
        ):
            body = {"model_id": self.model, "seq_id": 1, "path": path, "optimizer": True}
            self.refused("load_weights", body, "path: expected tinker://")
        status, _, _ = self.server.request(
            "DELETE", f"{V1}/training_runs/a:train:0/checkpoints/weights/..%2Fx"
        )
        self.assertIn(status, (404, 422))

    def test_samples_that_cannot_be_drawn(self):
        def sample(says, status=422, params=None, **changes):
            prompt = {"chunks": [{"type": "encoded_text", "tokens": [1, 2]}]}
            body = {
                "prompt": prompt,
                "sampling_params": params or {},
                "base_model": "tiny",
                **changes,
            }
            self.refused("asample", body, says, status)

        sample("base_model: expected 'tiny'", base_model="gpt")
        sample("expected one of sampling_session_id", base_model=None)
        sample("no sampling session", 404, sampling_session_id="x:sample:0")
        sample("no checkpoint", 404, base_model=None, model_path="tinker://a:train:0/weights/x")
        sample("prompt: expected at most 31 tokens", prompt={"chunks": [{"tokens": [1] * 32}]})
        sample("prompt: expected 1 to 32 tokens", prompt={"chunks": []})
        sample("prompt[0]: expected a token id", prompt={"chunks": [{"tokens": [12]}]})
        sample("num_samples: expected an integer from 1", num_samples=0)
        sample("num_samples: expected at most", num_samples=10**6)
        sample("topk_prompt_logprobs", topk_prompt_logprobs=3)
        for key, value in (
            ("max_tokens", 0),
            ("temperature", -1),
            ("top_p", 1.5),
            ("top_k", -2),
            ("stop", {}),
        ):
            sample(f"sampling_params.{key}: expected", params={key: value})


if __name__ == "__main__":
    report(__name__)
