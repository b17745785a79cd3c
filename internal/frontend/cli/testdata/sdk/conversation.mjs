// A conversation of two turns that the Agent SDK holds with pawl: the first asks
// for a permission and is allowed, the second is interrupted. It prints what the
// test looks at, a line of JSON each.
const { query } = await import(process.env.SDK);
const out = (o) => console.log(JSON.stringify(o));
let next;
const second = new Promise((r) => (next = r));
const user = (content) => ({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '' });
async function* prompts() {
  yield user('write the file');
  await second;
  yield user('wait');
}
const q = query({
  prompt: prompts(),
  options: {
    pathToClaudeCodeExecutable: process.env.PAWL, cwd: process.env.DIR, model: 'anthropic/claude-script', includePartialMessages: true,
    systemPrompt: 'be brief',
    stderr: (s) => process.stderr.write(s),
    canUseTool: async (tool, input) => {
      out({ asked: tool, input });
      return { behavior: 'allow', updatedInput: input };
    },
  },
});
let turn = 0, interrupted = false;
for await (const m of q) {
  out(m.type === 'stream_event' ? { type: m.type, event: m.event.type } : m);
  if (m.type === 'result' && ++turn === 1) {
    await q.setPermissionMode('bypassPermissions');
    next();
  }
  if (m.type === 'assistant' && turn === 1 && !interrupted) {
    interrupted = true;
    await q.interrupt();
    out({ interrupted: true });
  }
  if (m.type === 'result' && turn === 2) break;
}
out({ ended: true });
process.exit(0);
