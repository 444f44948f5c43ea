"""Models and checkpoints: run by test/trainers/python/server.slow.test.ts."""

import tempfile
import time
from pathlib import Path

import numpy as np
from server_harness import OWN, V1, Serving, backward, report, step

from bedside_trainers.sidecar.checkpoints import Checkpoints, Place


class State(Serving):
    def test_making_is_idempotent(self):
        server = self.start()
        session = server.session()
        made = {
            "session_id": session,
            "model_seq_id": 0,
            "base_model": "tiny",
            "lora_config": {"rank": 4},
        }
        first = server.ok("create_model", made)
        self.assertEqual(first["model_id"], f"{session}:train:0")
        self.assertEqual(server.ok("create_model", made), first)
        self.refused(
            server, "create_model", {**made, "lora_config": {"rank": 5}}, 409, "model_seq_id"
        )
        sampling = {"session_id": session, "sampling_session_seq_id": 0, "base_model": "tiny"}
        self.assertEqual(*(server.ok("create_sampling_session", sampling) for _ in range(2)))
        other = {
            **sampling,
            "base_model": None,
            "model_path": server.result(self.saved(server))["path"],
        }
        self.refused(server, "create_sampling_session", other, 409, "sampling_session_seq_id")

    def saved(self, server):
        return server.ok("save_weights", {"model_id": server.model(), "seq_id": 1, "path": "x"})

    def test_own_models_say_what_became_of_them(self):
        server = self.start()
        made = {"session_id": server.session(), "model_seq_id": 0, "base_model": "tiny"}
        made |= {"spec": {"mode": "full", "rank": 4, "seed": 2**62}}
        reply = server.run(f"{OWN}/create_model", made)
        self.assertEqual((reply["trainable_parameters"], reply["notes"]), (144, ["a note"]))
        info = server.ok("get_info", {"model_id": reply["model_id"]})
        self.assertEqual((info["is_lora"], info["lora_rank"]), (False, None))
        expected = {"arch": "bigram", "model_name": "tiny", "tokenizer_id": "/tiny"}
        self.assertEqual(info["model_data"], expected)

    def test_no_more_models_than_the_limit_but_for_silent_ones(self):
        server = self.start(models=2)
        session = server.session()
        one, _ = server.model(session), server.model(session, 1)
        third = {"session_id": session, "model_seq_id": 2, "base_model": "tiny"}
        self.refused(server, "create_model", third, 422, "holds 2 models")
        unloaded = server.run("unload_model", {"model_id": one})
        self.assertEqual(unloaded, {"type": "unload_model", "model_id": one})
        self.refused(server, "optim_step", step(one, 1), 404, "it was unloaded")
        server.result(server.ok("create_model", third))
        silent = self.start(models=1, silent_seconds=0)
        old = silent.model()
        new = silent.model()
        self.refused(silent, "optim_step", step(old, 1), 404, "not heard of")
        silent.run("optim_step", step(new, 1))

    def test_a_finished_session_gives_back_its_models_and_snapshots(self):
        server = self.start(models=1)
        session = server.session()
        model = server.model(session)
        waiting = server.ok("optim_step", step(model, 4))
        done = server.ok("optim_step", step(model, 1))
        snapshot = {"model_id": model, "seq_id": 2, "sampling_session_seq_id": 0}
        server.run("save_weights_for_sampler", snapshot)
        finish = {"reason": {"type": "success"}, "detail": "done"}
        path = f"sessions/{session}/finish"
        self.refused(server, path, {"reason": {"type": "bored"}}, 422, "reason.type: expected one")
        for _ in range(2):
            server.ok(path, finish)
        # Its place is free at once, and the engine's memory soon.
        server.model()
        self.assertNotIn(model, server.engine.tables)
        self.assertEqual(server.engine.snapshots, {})
        self.assertIn("its session was finished", server.result(waiting)["error"])
        self.assertEqual(server.result(done)["type"], "optim_step")
        self.refused(server, "optim_step", step(model, 3), 404, "its session was finished")
        for route in ("session_heartbeat", "create_model", "create_sampling_session"):
            body = {"session_id": session, "model_seq_id": 1, "sampling_session_seq_id": 1}
            self.refused(server, route, {**body, "base_model": "tiny"}, 410, "was finished by its")
        self.refused(server, "sessions/none/finish", finish, 404, "no session")

    def test_what_waits_for_its_turn_fails_when_its_model_goes(self):
        server = self.start()
        model = server.model()
        waiting = server.ok("optim_step", step(model, 2))
        server.run("unload_model", {"model_id": model})
        self.assertIn("it was unloaded", server.result(waiting)["error"])

    def test_sessions_without_models_make_room(self):
        server = self.start(sessions=2)
        kept = server.session()
        server.model(kept)
        dropped = server.session()
        server.session()
        self.refused(server, "session_heartbeat", {"session_id": dropped}, 404, "no session")
        server.ok("session_heartbeat", {"session_id": kept})

    def test_saving_and_loading(self):
        server = self.start()
        model = server.model()
        path = server.run("save_weights", {"model_id": model, "seq_id": 1, "path": "a"})["path"]
        self.assertEqual(path, f"tinker://{model}/weights/a")
        self.assertTrue((server.state / model.replace(":", "_") / "weights/a/table.npy").exists())
        table = server.engine.tables[model].copy()
        server.run("forward_backward", backward(model, 2))
        server.run("optim_step", step(model, 3))
        again = server.run("save_weights", {"model_id": model, "seq_id": 4, "path": "a"})
        self.assertIn("is there already", again["error"])
        load = {"model_id": model, "seq_id": 5, "path": path, "optimizer": True}
        self.assertEqual(server.run("load_weights", load)["path"], path)
        np.testing.assert_array_equal(server.engine.tables[model], table)
        server.run("forward_backward", backward(model, 6))
        server.run("optim_step", step(model, 7))
        server.run("save_weights", {"model_id": model, "seq_id": 8, "path": "a", "overwrite": True})
        session = server.session()
        via = {"session_id": session, "model_seq_id": 3, "path": path, "optimizer": False}
        made = server.run("load_weights", via)
        self.assertEqual(made["model_id"], f"{session}:train:3")
        self.assertEqual(server.ok("load_weights", via)["model_id"], made["model_id"])
        np.testing.assert_array_equal(*(server.engine.tables[m] for m in (model, made["model_id"])))
        info = server.ok("weights_info", {"tinker_path": path})
        self.assertEqual((info["base_model"], info["lora_rank"]), ("tiny", 4))
        self.assertEqual(self.leftovers(server), [])

    def leftovers(self, server):
        return [path.name for path in server.state.glob("*/*/.*")]

    def test_deleting(self):
        server = self.start()
        path = server.result(self.saved(server))["path"]
        model = path.split("/")[2]
        at = f"{V1}/training_runs/{model}/checkpoints/weights/x"
        self.assertEqual([server.request("DELETE", at)[0] for _ in range(2)], [204, 404])
        self.refused(server, "weights_info", {"tinker_path": path}, 404, "no checkpoint")
        self.assertEqual(self.leftovers(server), [])

    def test_a_full_disk_costs_a_checkpoint_and_nothing_else(self):
        server = self.start()
        model = server.model()
        server.engine.full = True
        failed = server.run("save_weights", {"model_id": model, "seq_id": 1, "path": "a"})
        self.assertEqual(failed["category"], "Server")
        self.assertIn("No space left on device", failed["error"])
        server.engine.full = False
        server.run("save_weights", {"model_id": model, "seq_id": 2, "path": "a"})
        server.run("forward_backward", backward(model, 3))
        self.assertGreater(server.run("optim_step", step(model, 4))["metrics"]["grad_norm:mean"], 0)

    def test_an_overwriting_save_that_was_cut_off_is_undone_at_the_next_start(self):
        server = self.start()
        path = server.result(self.saved(server))["path"]
        folder = server.service.parts.checkpoints.existing(path)
        folder.rename(folder.with_name(".old.x"))
        again = self.start(state=server.state)
        self.assertEqual(again.ok("weights_info", {"tinker_path": path})["lora_rank"], 4)

    def test_what_a_killed_save_left_goes_at_the_next_start_unless_another_server_runs(self):
        state = Path(tempfile.mkdtemp(prefix="bedside-state-"))
        servers = [Checkpoints(state)]
        place = Place("s:train:0", "weights", "x")
        servers[0].write(place, Path.mkdir)
        left = servers[0].folder(place).with_name(".y.0123abcd.partial")
        left.mkdir()
        servers.append(Checkpoints(state))
        self.assertTrue(left.exists(), "it may be the other server's")
        servers[0].release()
        servers.append(Checkpoints(state))
        self.assertTrue(left.exists(), "it may be the second server's")
        for server in servers[1:]:
            server.release()
        self.assertTrue(Checkpoints(state).existing(str(place)).is_dir())
        self.assertFalse(left.exists())

    def test_a_checkpoint_lives_as_long_as_it_was_given(self):
        server = self.start()
        model = server.model()

        def save(seq_id, name, **more):
            body = {"model_id": model, "seq_id": seq_id, "path": name, **more}
            return server.run("save_weights", body)["path"]

        short, long = save(1, "short", ttl_seconds=1), save(2, "long", ttl_seconds=3600)
        body = {"model_id": model, "seq_id": 3, "path": "s", "ttl_seconds": 1}
        sampler = server.run("save_weights_for_sampler", body)["path"]
        for path in (short, long, sampler):
            server.ok("weights_info", {"tinker_path": path})
        time.sleep(1.1)
        for path in (short, sampler):
            self.refused(server, "weights_info", {"tinker_path": path}, 404, "no checkpoint")
        server.ok("weights_info", {"tinker_path": long})
        # A name is free again, and a save without a time to live ends the old one's.
        self.assertEqual(save(4, "short"), short)
        for seq_id, wrong in enumerate((0, -5, 1.5, "1h"), 5):
            body = {"model_id": model, "seq_id": seq_id, "path": "w", "ttl_seconds": wrong}
            self.refused(server, "save_weights", body, 422, "ttl_seconds: expected an integer")
        self.assertEqual(self.leftovers(server), [".ends.long"])

    def test_exports(self):
        server = self.start()
        model = server.model()
        body = {"model_id": model, "seq_id": 1, "format": "merged", "path": "out"}
        self.assertEqual(server.run(f"{OWN}/export", body)["path"], f"tinker://{model}/exports/out")
        self.refused(
            server, f"{OWN}/export", {**body, "format": "gguf"}, 422, "format: expected one of"
        )


if __name__ == "__main__":
    report(__name__)
