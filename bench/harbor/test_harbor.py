"""python3 -m unittest discover bench/harbor: needs neither Harbor nor a network."""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))


class Base:
    """What the adapter uses of Harbor's BaseInstalledAgent."""

    def __init__(self, logs_dir, model_name=None, version=None):
        self.logs_dir, self.model_name, self.ran = Path(logs_dir), model_name, []

    async def exec_as_root(self, environment, command, env=None):
        self.ran.append(("root", command, env))

    async def exec_as_agent(self, environment, command, env=None):
        self.ran.append(("agent", command, env))


harbor = types.ModuleType("harbor.agents.installed.base")
harbor.BaseInstalledAgent, harbor.with_prompt_template = Base, lambda f: f
for parent in ("harbor", "harbor.agents", "harbor.agents.installed"):
    sys.modules[parent] = types.ModuleType(parent)
sys.modules[harbor.__name__] = harbor

import pawl_agent  # noqa: E402
import trajectory  # noqa: E402

LINES = (HERE / "testdata" / "run.jsonl").read_text().splitlines()


class Environment:
    def __init__(self):
        self.uploads = []

    async def upload_file(self, source, target):
        self.uploads.append((str(source), target))


class TrajectoryTest(unittest.TestCase):
    def test_steps(self):
        run = trajectory.atif(*trajectory.read(LINES))
        self.assertEqual((run["schema_version"], run["agent"]["name"], run["agent"]["model_name"]), ("ATIF-v1.6", "pawl", "anthropic/claude-script"))
        self.assertEqual([s["source"] for s in run["steps"]], ["user", "agent", "agent"])
        self.assertEqual([s["step_id"] for s in run["steps"]], [1, 2, 3])
        call = run["steps"][1]
        self.assertEqual(call["tool_calls"], [{"tool_call_id": "toolu_0_0", "function_name": "bash", "arguments": {"command": "cat hello.txt"}}])
        self.assertEqual(call["observation"]["results"], [{"source_call_id": "toolu_0_0", "content": "helo\nexit code 0"}])
        self.assertEqual(call["metrics"], {"prompt_tokens": 940, "completion_tokens": 20, "cached_tokens": 900, "cost_usd": 0.25})
        self.assertNotIn("tool_calls", run["steps"][2])
        self.assertEqual(run["final_metrics"], {"total_prompt_tokens": 1880, "total_cached_tokens": 1800, "total_completion_tokens": 40, "total_cost_usd": 0.5, "total_steps": 3})

    def test_cut_off(self):  # at a time limit: no result, half a line
        for lines in (LINES[:-1], [*LINES[:-1], LINES[-1][:40]]):
            events, result = trajectory.read(lines)
            self.assertIsNone(result)
            self.assertEqual(trajectory.usage(events, result), (1880, 1800, 40, 0.5))

    def test_unknown_is_not_nothing(self):
        lines = [line.replace('"known": true', '"known": false').replace('"cost": 0.25', '"cost": null') for line in LINES[:-1]]
        self.assertEqual(trajectory.usage(*trajectory.read(lines)), (None, None, None, None))
        self.assertNotIn("total_cost_usd", trajectory.atif(*trajectory.read(lines))["final_metrics"])
        self.assertIsNone(trajectory.atif([], None))

    def test_ids_that_come_again(self):
        lines = [line for line in LINES if '"prompted"' not in line]
        again = [line for line in LINES if '"replied"' in line][:1] + [line.replace("helo", "second") for line in LINES if '"call_done"' in line]
        steps = trajectory.atif(*trajectory.read(lines[:-1] + again))["steps"]
        self.assertEqual([s["observation"]["results"][0]["content"][:4] for s in steps if "observation" in s], ["helo", "seco"])


class AgentTest(unittest.TestCase):
    def agent(self, **kwargs):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pawl_agent.PawlAgent(logs_dir=folder.name, **{"model_name": "anthropic/claude-sonnet-5-5", **kwargs})

    def test_run_gets_only_its_providers_key(self):
        with mock.patch.dict(os.environ, {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "b", "OTHER": "c"}, clear=True):
            self.assertEqual(self.agent().variables(), {"ANTHROPIC_API_KEY": "a"})
            self.assertEqual(self.agent(env="OTHER").variables(), {"ANTHROPIC_API_KEY": "a", "OTHER": "c"})
            with self.assertRaises(ValueError):
                self.agent(model_name="somebody/model").variables()

    def test_command(self):
        agent = self.agent(flags="--effort high")
        asyncio.run(agent.run("it's $HOME; `rm`\n-- now", None, None))
        (who, command, env), = agent.ran
        self.assertEqual(who, "agent")
        for want in ("--sandbox off", "--permission-mode yolo", "--effort high", "--model anthropic/claude-sonnet-5-5"):
            self.assertIn(want, command)
        # A shell passes the instruction as it is; the codes of no result are errors, others not.
        for code, outcome, want in ((0, "done", 0), (1, "failed", 0), (7, "turns", 0), (4, "refused", 0), (2, "", 2), (3, "configuration", 3), (4, "provider", 4)):
            with tempfile.TemporaryDirectory() as d:
                program = Path(d) / "pawl"
                program.write_text(f'#!/bin/sh\nfor last; do :; done\nprintf %s "$last" >{d}/said\necho \'{{"outcome":"{outcome}"}}\'\nexit {code}\n')
                program.chmod(0o755)
                line = command.replace(pawl_agent.PROGRAM, str(program)).replace(pawl_agent.LOGS, d + "/logs")
                self.assertEqual(subprocess.run(["bash", "-c", line]).returncode, want)
                self.assertEqual((Path(d) / "said").read_text(), "it's $HOME; `rm`\n-- now")

    def test_instruction_that_looks_like_a_command(self):
        self.assertIn("'The task: /app/x.py is wrong'", self.agent().command("/app/x.py is wrong"))

    def test_install(self):
        agent, environment = self.agent(binary="dist/pawl-linux-amd64"), Environment()
        asyncio.run(agent.install(environment))
        self.assertEqual(environment.uploads, [("dist/pawl-linux-amd64", pawl_agent.PROGRAM)])
        agent = self.agent(version="v0.9.0")
        asyncio.run(agent.install(environment))
        self.assertIn("/releases/download/v0.9.0/$name", agent.ran[0][1])
        with self.assertRaises(ValueError):
            asyncio.run(self.agent().install(environment))

    def test_download_refuses_another_file(self):
        with tempfile.TemporaryDirectory() as d:
            curl, installed = Path(d) / "curl", Path(d) / "installed"
            command = pawl_agent.download("0.9.0").replace(pawl_agent.PROGRAM, str(installed))
            good = subprocess.run(["sha256sum"], input=b"x\n", capture_output=True).stdout.split()[0].decode()
            for digest, want in ((good, True), ("0" * 64, False)):
                curl.write_text(f'#!/bin/sh\ncase $3 in SHA256SUMS) printf "%s  pawl-linux-amd64\\n%s  pawl-linux-arm64\\n" {digest} {digest} >SHA256SUMS;; *) echo x >"$3";; esac\n')
                curl.chmod(0o755)
                installed.unlink(missing_ok=True)
                code = subprocess.run(["bash", "-c", command], env={**os.environ, "PATH": d + ":" + os.environ["PATH"]}, capture_output=True).returncode
                self.assertEqual((code == 0, installed.exists()), (want, want))

    def test_context(self):
        agent, context = self.agent(), types.SimpleNamespace()
        agent.populate_context_post_run(context)  # nothing ran
        self.assertEqual(vars(context), {})
        (agent.logs_dir / "pawl.jsonl").write_text("\n".join(LINES))
        agent.populate_context_post_run(context)
        self.assertEqual((context.n_input_tokens, context.n_cache_tokens, context.n_output_tokens, context.cost_usd), (1880, 1800, 40, 0.5))
        self.assertEqual(context.metadata["outcome"], "done")
        self.assertEqual(len(json.loads((agent.logs_dir / "trajectory.json").read_text())["steps"]), 3)


if __name__ == "__main__":
    unittest.main()
