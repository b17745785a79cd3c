"""pawl as an agent of Harbor, for Terminal-Bench and the other sets of tasks that Harbor
runs: see bench/harbor/README.md.

Keyword arguments (`--agent-kwarg NAME=VALUE`):

    binary   a pawl for the container's Linux, such as dist/pawl-linux-amd64; without it,
             the release `version` is downloaded and compared with its SHA256SUMS
    version  of the release, such as 0.9.0
    flags    more flags of `pawl run`, such as "--effort high"
    env      more variables that the container gets from here, separated by commas
"""

import json
import os
import shlex
from pathlib import Path

from harbor.agents.installed.base import BaseInstalledAgent, with_prompt_template

import trajectory

RELEASES = "https://github.com/pawl-agent/pawl/releases/download"
LOGS = "/logs/agent"
PROGRAM = "/usr/local/bin/pawl"

# The variables of each provider; the container gets those of the model's provider alone.
VARIABLES = {
    "anthropic": ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"],
    "openai": ["OPENAI_API_KEY", "OPENAI_BASE_URL"],
    "gemini": ["GEMINI_API_KEY", "GEMINI_BASE_URL"],
    "openrouter": ["OPENROUTER_API_KEY", "OPENROUTER_BASE_URL"],
    "xai": ["XAI_API_KEY", "XAI_BASE_URL"],
    "deepseek": ["DEEPSEEK_API_KEY", "DEEPSEEK_BASE_URL"],
    "mistral": ["MISTRAL_API_KEY", "MISTRAL_BASE_URL"],
    "zai": ["ZAI_API_KEY", "ZAI_BASE_URL"],
    "moonshot": ["MOONSHOT_API_KEY", "MOONSHOT_BASE_URL"],
    "openai-compatible": ["PAWL_API_KEY", "PAWL_BASE_URL"],
}

# What says nothing about the task is an error: a wrong flag, no model, none that answers.
# A model that refuses has the same code as one that does not answer, and is a result.
ENDS = (
    "case $code in 2|3) exit $code;; "
    f"4) tail -n 1 {LOGS}/pawl.jsonl | grep -q '\"outcome\": *\"refused\"' || exit $code;; esac"
)


class PawlAgent(BaseInstalledAgent):
    """Installs pawl in the task's container, and runs it there without questions: the
    container is the boundary, so pawl's own sandbox is off."""

    SUPPORTS_ATIF = True

    def __init__(self, *args, binary=None, version=None, flags="", env="", **kwargs):
        super().__init__(*args, version=version, **kwargs)
        self._binary, self._release = binary, version
        self._flags = shlex.split(flags)
        self._more = [name for name in env.split(",") if name]

    @staticmethod
    def name():
        return "pawl"

    def get_version_command(self):
        return PROGRAM + " --version"

    async def install(self, environment):
        if self._binary:
            await environment.upload_file(Path(self._binary), PROGRAM)
            await self.exec_as_root(environment, command="chmod 0755 " + PROGRAM)
        elif self._release:
            await self.exec_as_root(environment, command=download(self._release))
        else:
            raise ValueError("name a pawl: --agent-kwarg binary=FILE, or version=0.9.0 for a release")

    @with_prompt_template
    async def run(self, instruction, environment, context):
        await self.exec_as_agent(environment, command=self.command(instruction), env=self.variables())

    def command(self, instruction):
        """Returns the command line of the run. A task that pawl did not solve is a result,
        and a run without a model is an error."""
        if instruction.lstrip()[:1] in ("/", "!"):  # for pawl that would be a command
            instruction = "The task: " + instruction
        words = [PROGRAM, "run", "--permission-mode", "yolo", "--sandbox", "off", "--budget", "unlimited"]
        words += ["--output-format", "stream-json"]
        if self.model_name:
            words += ["--model", self.model_name]
        words += [*self._flags, "--", instruction]
        return (
            f"mkdir -p {LOGS}; {shlex.join(words)} </dev/null >{LOGS}/pawl.jsonl 2>{LOGS}/pawl.stderr; code=$?; "
            f"tail -n 5 {LOGS}/pawl.stderr; {ENDS}"
        )

    def variables(self):
        """Returns the environment of the run: the keys of the model's provider."""
        provider = (self.model_name or "").split("/")[0]
        if provider and provider not in VARIABLES and not self._more:
            raise ValueError(f"which variables {provider} needs is not known: --agent-kwarg env=NAME,NAME")
        names = VARIABLES.get(provider, []) + self._more
        return {name: os.environ[name] for name in names if os.environ.get(name)}

    def populate_context_post_run(self, context):
        log = self.logs_dir / "pawl.jsonl"
        if not log.exists():
            return
        with log.open(encoding="utf-8", errors="replace") as lines:
            events, result = trajectory.read(lines)
        context.n_input_tokens, context.n_cache_tokens, context.n_output_tokens, context.cost_usd = trajectory.usage(events, result)
        if result is not None:
            context.metadata = {k: result.get(k) for k in ("outcome", "turns", "calls", "verified", "exit_code", "error")}
        run = trajectory.atif(events, result)
        if run is not None:
            (self.logs_dir / "trajectory.json").write_text(json.dumps(run, indent=1), encoding="utf-8")


def download(release):
    """Returns the command that installs a release, if it is the one that was released."""
    base = shlex.quote(f"{RELEASES}/v{release.removeprefix('v')}")
    return (
        "set -e; command -v curl >/dev/null || { apt-get update -q && apt-get install -q -y --no-install-recommends curl ca-certificates; }; "
        'case $(uname -m) in x86_64) arch=amd64;; aarch64) arch=arm64;; *) echo "no pawl is released for $(uname -m)" >&2; exit 1;; esac; '
        "cd $(mktemp -d); name=pawl-linux-$arch; "
        f"curl -fsSL -o $name {base}/$name; curl -fsSL -o SHA256SUMS {base}/SHA256SUMS; "
        'grep " \\*\\?$name\\$" SHA256SUMS | sha256sum -c -; '
        f"install -m 0755 $name {PROGRAM}"
    )
