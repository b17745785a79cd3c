// A program of the Agent SDK with a tool and hooks of its own. It prints what the
// test looks at, a line of JSON each.
const { query, createSdkMcpServer, tool } = await import(process.env.SDK);
const { z } = await import(process.env.ZOD);
const out = (o) => console.log(JSON.stringify(o));
const server = createSdkMcpServer({
  name: 'shop', version: '1.0.0',
  tools: [tool('price', 'The price of a thing.', { thing: z.string() }, async ({ thing }) => {
    out({ tool: thing });
    return { content: [{ type: 'text', text: `a ${thing} costs 7` }] };
  })],
});
const q = query({
  prompt: '/price hat',
  options: {
    pathToClaudeCodeExecutable: process.env.PAWL, cwd: process.env.DIR, model: 'anthropic/claude-script',
    mcpServers: { shop: server },
    stderr: (s) => process.stderr.write(s),
    hooks: {
      PreToolUse: [{ matcher: 'Write', hooks: [async (input) => {
        out({ hook: input.tool_name });
        if (!input.tool_input.file_path.endsWith('secret.txt')) return {};
        return { hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no secrets' } };
      }] }],
      PostToolUse: [{ hooks: [async (input) => { out({ after: input.tool_name }); return {}; }] }],
      SessionEnd: [{ hooks: [async (input) => { out({ end: input.reason }); return {}; }] }],
    },
    canUseTool: async (name, input) => { out({ asked: name }); return { behavior: 'allow', updatedInput: input }; },
  },
});
for await (const m of q) {
  if (m.type === 'system' && m.subtype === 'init') out({ lists: m.slash_commands.includes('price') });
  if (m.type === 'user') out({ result: JSON.stringify(m.message.content) });
  if (m.type === 'result') out({ ended: m.subtype });
}
out({ over: true });
