"""Stand-in for vLLM and SGLang: their HTTP routes over transformers and PEFT, which read the adapter folders by themselves."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, AutoTokenizer


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def _answer(self, body, status=200):
        text = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self._answer({"data": [{"id": "the-base"}]} if self.path == "/v1/models" else "")

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        try:
            self._answer(self.server.route(self.path, body))
        except Exception as error:
            self._answer(str(error), 400)


class StandIn(ThreadingHTTPServer):
    """One model folder with its adapters. `temper` false gives the log-probs of temperature 1, as vLLM does by default."""

    daemon_threads = True

    def __init__(self, folder, temper=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.folder, self.temper = folder, temper
        self.base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()
        self.tokenizer = AutoTokenizer.from_pretrained(folder)
        self.adapters, self.seen, self.lock = {}, [], threading.Lock()
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def route(self, path, body):
        with self.lock:
            self.seen.append((path, body))
            name = body.get("lora_name")
            if path.endswith("/load_lora_adapter"):
                if name in self.adapters:
                    raise ValueError(f"{name} is there already")
                own = AutoModelForCausalLM.from_pretrained(self.folder, dtype=torch.float32)
                self.adapters[name] = PeftModel.from_pretrained(own, body["lora_path"]).eval()
                return "Success" if path.startswith("/v1") else {"success": True}
            if path.endswith("/unload_lora_adapter"):
                del self.adapters[name]
                return "Success"
            if path == "/v1/completions":
                model = self.base if body["model"] == "the-base" else self.adapters[body["model"]]
                ids, scores, end = self.draw(model, body["prompt"], body, body["max_tokens"], body["seed"])
                choice = {"token_ids": ids, "logprobs": {"token_logprobs": scores}, "finish_reason": end}
                return {"choices": [choice]}
            if path == "/generate":
                model = self.adapters[body["lora_path"]] if "lora_path" in body else self.base
                rule = body["sampling_params"]
                ids, scores, end = self.draw(
                    model, body["input_ids"], rule, rule["max_new_tokens"], rule["sampling_seed"]
                )
                listed = [[score, token, None] for score, token in zip(scores, ids, strict=True)]
                return {"meta_info": {"output_token_logprobs": listed, "finish_reason": {"type": end}}}
            raise ValueError(f"no route {path}")

    def draw(self, model, prompt, rule, limit, seed):
        generator = torch.Generator().manual_seed(seed)
        heat = rule["temperature"] or 1.0
        ids, scores = [], []
        while len(ids) < limit:
            with torch.no_grad():
                logits = model(torch.tensor([[*prompt, *ids]])).logits[0, -1].double()
            chances = torch.log_softmax(logits / heat, -1)
            token = int(chances.argmax()) if not rule["temperature"] else int(
                torch.multinomial(chances.exp(), 1, generator=generator)
            )
            shown = chances if self.temper else torch.log_softmax(logits, -1)
            ids.append(token)
            scores.append(float(shown[token]))
            text = self.tokenizer.decode(ids)
            if token in rule["stop_token_ids"] or any(stop in text for stop in rule["stop"]):
                return ids, scores, "stop"
        return ids, scores, "length"
