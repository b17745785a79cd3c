// Cases in which a program of the Agent SDK drives an agent, each with the replies of a
// scripted model. It prints, a line of JSON each, the shapes of the messages: their kinds
// and fields, and no content. PAWL is the agent's executable; with RECORD it is the real
// program, whose shapes are in shapes.json.
import http from 'node:http';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
const { query, createSdkMcpServer, tool } = await import(process.env.SDK);
const { z } = await import(process.env.ZOD);

// The model: turns of {text, thinking, calls: [[name, input]], stop, status}.
const scripts = new Map();
const server = http.createServer((req, res) => {
  let body = '';
  req.on('data', (d) => (body += d)).on('end', () => {
    const q = body ? JSON.parse(body) : {};
    const s = scripts.get(req.url.split('/')[1]);
    if (!s || !req.url.includes('/messages') || req.url.includes('count_tokens')) return res.writeHead(404, { 'content-type': 'application/json' }).end('{"type":"error","error":{"type":"not_found_error","message":"no"}}');
    const aux = !q.tools?.length && s.tools !== false;
    let t = aux ? { text: '{"title":"x"}' } : s.turns[Math.min(s.n++, s.turns.length - 1)];
    if (!aux) s.seen.push(Object.assign(q, { betas: req.headers['anthropic-beta'] ?? '' }));
    if (typeof t === 'function') t = t(q);
    if (t.never) return; // the request ends when the agent that made it is stopped
    if (t.status) return res.writeHead(t.status, { 'content-type': 'application/json', 'retry-after': '0' }).end(JSON.stringify({ type: 'error', error: { type: t.status === 529 ? 'overloaded_error' : 'invalid_request_error', message: 'scripted' } }));
    const blocks = [];
    if (t.thinking) blocks.push({ type: 'thinking', thinking: t.thinking, signature: 'c2ln' });
    if (t.text) blocks.push({ type: 'text', text: t.text });
    (t.calls ?? []).forEach(([name, input], i) => blocks.push({ type: 'tool_use', id: `toolu_${s.id}_${s.n}_${i}`, name, input }));
    const stop = t.stop ?? (t.calls ? 'tool_use' : 'end_turn');
    const usage = { input_tokens: 100, output_tokens: 20, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 };
    if (!q.stream) return res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ id: `msg_${s.id}_${s.n}`, type: 'message', role: 'assistant', model: q.model, content: blocks, stop_reason: stop, stop_sequence: null, usage }));
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const say = (e) => res.write(`event: ${e.type}\ndata: ${JSON.stringify(e)}\n\n`);
    say({ type: 'message_start', message: { id: `msg_${s.id}_${s.n}`, type: 'message', role: 'assistant', model: q.model, content: [], stop_reason: null, stop_sequence: null, usage } });
    blocks.forEach((b, index) => {
      if (b.type === 'text') { say({ type: 'content_block_start', index, content_block: { type: 'text', text: '' } }); say({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: b.text } }); }
      if (b.type === 'thinking') { say({ type: 'content_block_start', index, content_block: { type: 'thinking', thinking: '', signature: '' } }); say({ type: 'content_block_delta', index, delta: { type: 'thinking_delta', thinking: b.thinking } }); say({ type: 'content_block_delta', index, delta: { type: 'signature_delta', signature: b.signature } }); }
      if (b.type === 'tool_use') { say({ type: 'content_block_start', index, content_block: { ...b, input: {} } }); say({ type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: JSON.stringify(b.input) } }); }
      say({ type: 'content_block_stop', index });
    });
    say({ type: 'message_delta', delta: { stop_reason: stop, stop_sequence: null }, usage: { output_tokens: 20 } });
    say({ type: 'message_stop' });
    res.end();
  });
});
await new Promise((r) => server.listen(0, '127.0.0.1', r));
const port = server.address().port;

const user = (content, more) => ({ type: 'user', message: { role: 'user', content }, parent_tool_use_id: null, session_id: '', ...more });
const done = { text: 'done' };
const bash = (command) => ({ calls: [['Bash', { command, description: 'x' }]] });
const write = (dir, name = 'a.txt', content = 'one\n') => ({ calls: [['Write', { file_path: path.join(dir, name), content }]] });
const yes = { canUseTool: async (_, input) => ({ behavior: 'allow', updatedInput: input }) };
const no = { canUseTool: async () => ({ behavior: 'deny', message: 'no' }) };
const bypass = { permissionMode: 'bypassPermissions', allowDangerouslySkipPermissions: true };
const hooks = (event, answer, matcher) => ({ hooks: { [event]: [{ matcher, hooks: [async (input, id, o) => answer(input, id, o) ?? {}] }] } });
const deny = (reason) => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: reason } });
const shop = (c) => createSdkMcpServer({ name: 'shop', version: '1', tools: [tool('price', 'The price of a thing.', { thing: z.string() }, async ({ thing }) => { c.out({ ran: 'price' }); return { content: [{ type: 'text', text: `a ${thing} costs 7` }] }; })] });
const keysOf = (o) => (o && typeof o === 'object' ? Object.keys(o).sort() : typeof o);

// A server with one tool, which asks the person for a colour and says the answer.
const ASKS = `let n = 0;
const say = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n');
const calls = new Map();
let rest = '';
process.stdin.on('data', (d) => { const lines = (rest + d).split('\\n'); rest = lines.pop(); for (const l of lines) if (l.trim()) on(JSON.parse(l)); });
function on(m) {
  if (m.method === 'initialize') say({ id: m.id, result: { protocolVersion: m.params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'asks', version: '1' } } });
  else if (m.method === 'tools/list') say({ id: m.id, result: { tools: [{ name: 'colour', description: 'Asks for a colour.', inputSchema: { type: 'object', properties: {} } }] } });
  else if (m.method === 'tools/call') { calls.set('e' + ++n, m.id); say({ id: 'e' + n, method: 'elicitation/create', params: { message: 'Which colour?', requestedSchema: { type: 'object', properties: { colour: { type: 'string', description: 'a colour' } }, required: ['colour'] } } }); }
  else if (calls.has(m.id)) { const r = m.result; say({ id: calls.get(m.id), result: { content: [{ type: 'text', text: 'it is ' + (r?.content?.colour ?? r?.action ?? 'error') }] } }); }
  else if (m.id !== undefined && m.method) say({ id: m.id, error: { code: -32601, message: 'no' } });
}`;

const asks = (c) => ({ mcpServers: { asks: { command: process.execPath, args: [path.join(c.dir, '../asks.mjs')] } } });
// The second prompt calls the server, which has started by then.
const asking = { turns: () => [done, { calls: [['mcp__asks__colour', {}]] }, done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { while (m.type === 'result' && c.n === 0) if ((await q.mcpServerStatus()).every((s) => s.status === 'connected')) c.n++; } };

// A folder with a plugin; the hook forbids commands.
const plug = (more) => ({ 'plug/.claude-plugin/plugin.json': '{"name":"plug","version":"1.2"}', 'plug/commands/price.md': '---\ndescription: d\n---\nWhat does a $1 cost?\n', 'plug/agents/reader.md': '---\nname: reader\ndescription: reads\n---\nRead.\n', ...more });
const HOOK = { 'plug/hooks/hooks.json': '{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"echo no >&2; exit 2"}]}]}}' };
const plugins = (c, more) => ({ plugins: [{ type: 'local', path: path.join(c.dir, 'plug'), ...more }] });
const turns = new Map(); // the prompt of the turn that is left out, by folder

// case: {turns(dir), prompts(dir), options(c), each(m, q, c), files, then}
const cases = {
  text: { turns: () => [done] },
  'two prompts': { turns: () => [done], prompts: () => [user('one'), user('two')] },
  'three prompts at once': { loose: 'the real program may join prompts that wait', turns: () => [done], prompts: () => [user('1'), user('2'), user('3')], together: true },
  thinking: { turns: () => [{ thinking: 'hm', text: 'done' }] },
  'write allowed': { turns: (d) => [write(d), done], options: () => yes },
  'write denied': { turns: (d) => [write(d), done], options: () => no },
  'write denied and interrupted': { turns: (d) => [write(d), done], options: () => ({ canUseTool: async () => ({ behavior: 'deny', message: 'no', interrupt: true }) }) },
  'write without anybody': { turns: (d) => [write(d), done] },
  'write in acceptEdits': { turns: (d) => [write(d), done], options: () => ({ permissionMode: 'acceptEdits' }) },
  'write in plan': { turns: (d) => [write(d), done], options: () => ({ permissionMode: 'plan' }), loose: 'the plan mode asks to leave it in its own way' },
  'write in dontAsk': { turns: (d) => [write(d), done], options: () => ({ permissionMode: 'dontAsk' }) },
  'bash allowed by rule': { turns: () => [bash('echo hi'), done], options: () => ({ allowedTools: ['Bash(echo:*)'] }) },
  'bash denied by rule': { turns: () => [bash('touch x'), done], options: () => ({ ...bypass, disallowedTools: ['Bash(touch:*)'] }) },
  'bash in bypassPermissions': { turns: () => [bash('echo hi'), done], options: () => bypass },
  'bash that fails': { turns: () => [bash('echo no >&2; exit 3'), done], options: () => bypass },
  'bash without output': { turns: () => [bash('true'), done], options: () => bypass },
  'two calls in a reply': { turns: (d) => [{ calls: [['Bash', { command: 'echo 1', description: 'x' }], ['Bash', { command: 'echo 2', description: 'x' }]] }, done], options: () => bypass },
  'text and a call': { turns: () => [{ text: 'I look', calls: [['Bash', { command: 'echo 1', description: 'x' }]] }, done], options: () => bypass },
  'read a file': { files: { 'a.txt': 'one\n' }, turns: (d) => [{ calls: [['Read', { file_path: path.join(d, 'a.txt') }]] }, done] },
  'read a file that is not there': { turns: (d) => [{ calls: [['Read', { file_path: path.join(d, 'none.txt') }]] }, done] },
  'edit a file': { files: { 'a.txt': 'one\n' }, turns: (d) => [{ calls: [['Read', { file_path: path.join(d, 'a.txt') }]] }, { calls: [['Edit', { file_path: path.join(d, 'a.txt'), old_string: 'one', new_string: 'two' }]] }, done], options: () => ({ permissionMode: 'acceptEdits' }) },
  grep: { loose: 'this release of the real program has no such tool', files: { 'a.txt': 'one\n' }, turns: () => [{ calls: [['Grep', { pattern: 'one' }]] }, done] },
  'a tool that nobody has': { turns: () => [{ calls: [['Nonsense', {}]] }, done], options: () => bypass },
  'max turns': { turns: () => [bash('echo 1'), bash('echo 2'), done], options: () => ({ ...bypass, maxTurns: 1 }) },
  'max budget': { loose: 'pawl ends before the request that would cost more', turns: () => [bash('echo 1'), bash('echo 2'), done], options: () => ({ ...bypass, maxBudgetUsd: 0.0000001 }) },
  'structured output': { turns: () => [(q) => (q.tools.some((t) => t.name === 'StructuredOutput') ? { calls: [['StructuredOutput', { risk: 'low' }]] } : { text: '{"risk":"low"}' }), done], options: () => ({ outputFormat: { type: 'json_schema', schema: { type: 'object', properties: { risk: { type: 'string' } }, required: ['risk'] } } }), loose: 'the real program uses a tool for it' },
  'partial text': { loose: 'a message stands before the last pieces of its stream', turns: () => [done], options: () => ({ includePartialMessages: true }) },
  'partial call': { loose: 'a message stands before the last pieces of its stream', turns: () => [bash('echo 1'), done], options: () => ({ ...bypass, includePartialMessages: true }) },
  'stop: max_tokens': { turns: () => [{ text: 'half', stop: 'max_tokens' }, done], loose: 'the agents go on in different ways' },
  'stop: refusal': { turns: () => [{ text: 'no', stop: 'refusal' }], loose: 'the real program falls back to another model' },
  'bad request': { loose: 'an error of the provider is one of the result', turns: () => [{ status: 400 }] },
  'overloaded once': { turns: () => [{ status: 529 }, done] },
  interrupt: { turns: () => [bash('sleep 600'), done], options: () => bypass, each: async (m, q) => { if (m.type === 'assistant') await q.interrupt(); } },
  'set the mode': { turns: () => [done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) await q.setPermissionMode('acceptEdits'); } },
  'set the model': { loose: 'the real program tells it as a prompt', turns: () => [done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) { await q.setModel('claude-haiku-4-5'); c.out({ set: true }); } } },
  'supported models': { turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ models: keysOf((await q.supportedModels())[0]).filter((k) => ['value', 'displayName', 'description'].includes(k)) }); } },
  'supported commands': { files: { '.claude/commands/price.md': '---\ndescription: d\nargument-hint: THING\n---\nWhat does $1 cost?\n' }, turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ command: (await q.supportedCommands()).filter((x) => x.name === 'price').map((x) => [keysOf(x).filter((k) => k !== 'aliases'), x.argumentHint]) }); } },
  'supported agents': { files: { '.claude/agents/reader.md': '---\nname: reader\ndescription: reads\n---\nRead.\n' }, turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ agents: (await q.supportedAgents()).filter((x) => x.name === 'reader').map((x) => [x.description]) }); } },
  'account and initialization': { turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') { c.out({ account: typeof (await q.accountInfo()) }); c.out({ init: keysOf(await q.initializationResult()).filter((k) => ['commands', 'agents', 'models', 'account', 'output_style', 'available_output_styles'].includes(k)) }); } } },
  'context usage': { turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ usage: keysOf(await q.getContextUsage()).filter((k) => ['categories', 'totalTokens', 'maxTokens', 'rawMaxTokens', 'percentage', 'model', 'memoryFiles', 'mcpTools', 'agents', 'gridRows'].includes(k)) }); } },
  'servers: none': { turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ servers: await q.mcpServerStatus() }); } },
  'servers: in the program': { turns: () => [{ calls: [['mcp__shop__price', { thing: 'hat' }]] }, done], options: (c) => ({ ...bypass, mcpServers: { shop: shop(c) } }), each: async (m, q, c) => { if (m.type === 'result') c.out({ servers: (await q.mcpServerStatus()).map((s) => [s.name, s.status]) }); } },
  'servers: one that fails': { turns: () => [done], options: () => ({ mcpServers: { bad: { command: 'false' } } }), each: async (m, q, c) => { if (m.type === 'result') c.out({ servers: (await q.mcpServerStatus()).map((s) => [s.name, s.status]) }); } },
  'servers: strict': { files: { '.mcp.json': '{"mcpServers":{"x":{"command":"false"}}}' }, turns: () => [done], options: () => ({ strictMcpConfig: true }), each: async (m, q, c) => { if (m.type === 'result') c.out({ servers: await q.mcpServerStatus() }); } },
  'hook: PreToolUse denies': { turns: () => [bash('touch x'), done], options: (c) => ({ ...bypass, ...hooks('PreToolUse', (i) => { c.out({ hook: keysOf(i).filter((k) => ['session_id', 'cwd', 'hook_event_name', 'tool_name', 'tool_input', 'tool_use_id', 'transcript_path', 'permission_mode'].includes(k)), tool: i.tool_name }); return deny('no'); }, 'Bash') }) },
  'hook: PreToolUse of another tool': { turns: () => [bash('echo 1'), done], options: (c) => ({ ...bypass, ...hooks('PreToolUse', () => c.out({ hook: 1 }), 'Write') }) },
  'hook: PreToolUse asks': { turns: () => [bash('echo 1'), done], options: (c) => ({ ...bypass, ...hooks('PreToolUse', () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'ask', permissionDecisionReason: 'think' } })), canUseTool: async (t, input) => { c.out({ asked: t }); return { behavior: 'allow', updatedInput: input }; } }) },
  'hook: PostToolUse': { turns: () => [bash('echo 1'), done], options: (c) => ({ ...bypass, ...hooks('PostToolUse', (i) => { c.out({ after: i.tool_name }); return { hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'mind the gap' } }; }) }), then: (c) => c.out({ told: JSON.stringify(c.seen).includes('mind the gap') }) },
  'hook: UserPromptSubmit adds': { turns: () => [done], options: (c) => hooks('UserPromptSubmit', (i) => { c.out({ prompt: i.prompt }); return { hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'mind the gap' } }; }), then: (c) => c.out({ told: JSON.stringify(c.seen).includes('mind the gap') }) },
  'hook: UserPromptSubmit blocks': { turns: () => [done], options: () => hooks('UserPromptSubmit', () => ({ decision: 'block', reason: 'no' })), then: (c) => c.out({ asked: c.seen.length }), loose: 'a refused prompt is an error of pawl' },
  'hook: Stop goes on once': { loose: 'the real program tells the words of the hook as a prompt', turns: () => [done], options: (c) => hooks('Stop', () => (c.n++ === 0 ? { decision: 'block', reason: 'go on' } : {})), then: (c) => c.out({ asked: c.seen.length }) },
  'hook: events are told': { turns: () => [bash('echo 1'), done], options: () => ({ ...bypass, includeHookEvents: true, ...hooks('PostToolUse', () => ({})) }), loose: 'the real program tells only of hooks of settings' },
  'hook: SubagentStop': { turns: () => [{ calls: [['Agent', { description: 'look', prompt: 'look', subagent_type: 'general-purpose' }]] }, { text: 'seen' }, done], options: (c) => { const said = new Promise((r) => (c.said = r)); return { ...bypass, ...hooks('SubagentStop', async (i) => { await said; c.out({ stopped: i.hook_event_name }); }) }; }, each: async (m, q, c) => { if (m.type === 'user' && m.parent_tool_use_id) c.said(); } },
  'an agent': { turns: () => [{ calls: [['Agent', { description: 'look', prompt: 'look', subagent_type: 'general-purpose' }]] }, bash('echo 1'), { text: 'seen' }, done], options: () => bypass },
  'an agent of the program': { turns: () => [{ calls: [['Agent', { description: 'look', prompt: 'look', subagent_type: 'reader' }]] }, { text: 'seen' }, done], options: () => ({ ...bypass, agents: { reader: { description: 'reads', prompt: 'You read.', tools: ['Read'] } } }) },
  'the main agent': { turns: () => [done], options: () => ({ agent: 'reader', agents: { reader: { description: 'reads', prompt: 'You are a cat.', tools: ['Read'] } } }), each: async (m, q, c) => { if (m.subtype === 'init') c.out({ tools: m.tools }); }, then: (c) => c.out({ told: JSON.stringify(c.seen[0].system).includes('You are a cat.') }) },
  'the main agent of a file': { files: { '.claude/agents/reader.md': '---\nname: reader\ndescription: reads\ndisallowedTools: Bash\n---\nYou are a cat.\n' }, turns: () => [bash('touch x'), done], options: () => ({ ...bypass, agent: 'reader' }), then: (c) => c.out({ told: JSON.stringify(c.seen[0].system).includes('You are a cat.'), offered: c.seen[0].tools.some((t) => t.name.toLowerCase() === 'bash') }) },
  'the main agent has a model': { turns: () => [done], options: () => ({ model: undefined, agent: 'reader', agents: { reader: { description: 'reads', prompt: 'You are a cat.', model: 'claude-haiku-4-5' } } }), then: (c) => c.out({ model: c.seen[0].model }) },
  'the main agent beside a system prompt': { turns: () => [done], options: () => ({ systemPrompt: 'be a dog', agent: 'reader', agents: { reader: { description: 'reads', prompt: 'You are a cat.' } } }), then: (c) => c.out({ told: ['be a dog', 'You are a cat.'].map((w) => JSON.stringify(c.seen[0].system).includes(w)) }) },
  'the main agent and appended words': { turns: () => [done], options: () => ({ systemPrompt: { type: 'preset', preset: 'claude_code', append: 'be a dog' }, agent: 'reader', agents: { reader: { description: 'reads', prompt: 'You are a cat.' } } }), then: (c) => c.out({ told: ['be a dog', 'You are a cat.'].map((w) => JSON.stringify(c.seen[0].system).includes(w)) }) },
  'the main agent of nobody': { turns: () => [done], options: () => ({ agent: 'nobody' }), then: (c) => c.out({ asked: c.seen.length }), loose: 'the real program goes on without its limits' },
  'system prompt': { turns: () => [done], options: () => ({ systemPrompt: 'be a cat' }), then: (c) => c.out({ told: JSON.stringify(c.seen[0].system).includes('be a cat') }) },
  'system prompt, appended': { turns: () => [done], options: () => ({ systemPrompt: { type: 'preset', preset: 'claude_code', append: 'be a cat' } }), then: (c) => c.out({ told: JSON.stringify(c.seen[0].system).includes('be a cat') }) },
  'no tools': { turns: () => [done], tools: false, options: () => ({ tools: [] }), then: (c) => c.out({ asked: c.seen.length > 0 }) },
  'session id': { turns: () => [done], options: () => ({ sessionId: '3f0c6f3e-0000-4000-8000-000000000001' }), each: async (m, q, c) => { if (m.type === 'result') c.out({ id: m.session_id }); } },
  resume: { turns: () => [done], resumes: (id) => ({ resume: id }) },
  continue: { turns: () => [done], resumes: () => ({ continue: true }) },
  'resume into a fork': { turns: () => [done], resumes: (id) => ({ resume: id, forkSession: true }) },
  'resume after a message': { turns: () => ['first', 'second', 'third'].map((text) => ({ text })), prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'assistant') c.at ??= m.uuid; }, resumes: (id, c) => ({ resume: id, resumeSessionAt: c.at, forkSession: true }), then: (c) => c.out({ told: ['first', 'second'].map((w) => JSON.stringify(c.seen[2].messages).includes(w)) }) },
  'resume after a call': { turns: (d) => [bash('echo 1'), { text: 'second' }, { text: 'third' }], options: () => bypass, each: async (m, q, c) => { if (m.type === 'user') c.at ??= m.uuid; }, resumes: (id, c) => ({ resume: id, resumeSessionAt: c.at, forkSession: true }), then: (c) => c.out({ told: ['tool_result', 'second'].map((w) => JSON.stringify(c.seen[2].messages).includes(w)) }) },
  'resume after no message': { turns: () => [done], resumes: (id) => ({ resume: id, resumeSessionAt: '3f0c6f3e-0000-4000-8000-000000000001', forkSession: true }), then: (c) => c.out({ asked: c.seen.length }), loose: 'pawl has no session then' },
  'resume without a turn': { turns: () => ['first', 'second', 'third'].map((text) => ({ text })), prompts: (d) => { if (turns.has(d)) return [user('three')]; turns.set(d, crypto.randomUUID()); return [user('one'), user('two', { uuid: turns.get(d) })]; }, each: async (m, q, c) => { if (m.type === 'assistant') c.at ??= m.uuid; }, resumes: (id, c) => ({ resume: id, resumeSessionAt: c.at, resumeDropsTurn: turns.get(c.dir), forkSession: true }), then: (c) => c.out({ told: ['first', 'second'].map((w) => JSON.stringify(c.seen[2].messages).includes(w)) }) },
  'resume without another turn': { turns: () => [{ text: 'first' }, done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'assistant') c.at ??= m.uuid; }, resumes: (id, c) => ({ resume: id, resumeSessionAt: c.at, resumeDropsTurn: crypto.randomUUID(), forkSession: true }), then: (c) => c.out({ asked: c.seen.length }), loose: 'pawl has no session then' },
  'an image': { turns: () => [done], prompts: () => [user([{ type: 'text', text: 'look' }, { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' } }])], then: (c) => c.out({ sent: JSON.stringify(c.seen[0].messages).includes('"type":"image"') }) },
  'a document of text': { turns: () => [done], prompts: () => [user([{ type: 'text', text: 'read' }, { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'the cat sat' } }])], then: (c) => c.out({ sent: JSON.stringify(c.seen[0].messages).includes('the cat sat') }) },
  'a command of the project': { files: { '.claude/commands/price.md': 'What does $1 cost?\n' }, turns: () => [done], prompts: () => [user('/price hat')] },
  'compact between prompts': { turns: () => [done], tools: false, prompts: () => [user('one'), user('/compact'), user('two')], loose: 'what a compaction tells differs', then: (c) => c.out({ over: true }) },
  'settings that deny': { turns: () => [bash('touch x'), done], options: () => ({ ...bypass, settings: JSON.stringify({ permissions: { deny: ['Bash(touch:*)'] } }) }) },
  'settings of the folder that deny': { files: { '.claude/settings.json': '{"permissions":{"deny":["Bash(touch:*)"]}}' }, turns: () => [bash('touch x'), done], options: () => ({ ...bypass, settingSources: ['project'] }) },
  'another directory': { turns: () => [bash('echo 1'), done], options: () => ({ ...bypass, additionalDirectories: [os.tmpdir()] }) },
  effort: { turns: () => [done], options: () => ({ effort: 'low' }) },
  'task budget': { turns: () => [bash('echo 1'), done], options: () => ({ ...bypass, model: 'claude-opus-4-8', taskBudget: { total: 30000 } }), then: (c) => c.out({ told: c.seen.map((q) => [q.output_config.task_budget, q.betas.includes('task-budgets-2026-03-13')]) }) },
  'a plugin': { files: plug(), turns: () => [done], prompts: () => [user('/plug:price hat')], options: plugins, each: async (m, q, c) => {
    if (m.subtype === 'init') c.out({ init: m.plugins.filter((p) => p.name === 'plug').map((p) => [path.basename(p.path), p.version]) });
    if (m.type === 'result') c.out({ commands: (await q.supportedCommands()).map((x) => x.name).filter((n) => n.startsWith('plug:')), agents: (await q.supportedAgents()).map((x) => x.name).filter((n) => n.startsWith('plug:')) });
  }, then: (c) => c.out({ told: /What does a .* cost/.test(JSON.stringify(c.seen[0].messages)) }) },
  'a plugin without a description': { files: { 'plug/commands/price.md': 'What does it cost?\n' }, turns: () => [done], prompts: () => [user('/plug:price')], options: plugins, then: (c) => c.out({ told: JSON.stringify(c.seen[0].messages).includes('What does it cost') }) },
  'a plugin with a trusted hook': { files: plug(HOOK), turns: () => [bash('touch x'), done], options: (c) => ({ ...bypass, ...plugins(c), extraArgs: process.env.RECORD ? {} : { trust: null } }), then: (c) => c.out({ made: fs.existsSync(path.join(c.dir, 'x')) }) },
  'a plugin with a hook that is not trusted': { files: plug(HOOK), turns: () => [bash('touch x'), done], options: (c) => ({ ...bypass, ...plugins(c) }), then: (c) => c.out({ made: fs.existsSync(path.join(c.dir, 'x')) }), loose: 'pawl does not begin' },
  'a plugin without its servers': { files: plug({ 'plug/.mcp.json': '{"mcpServers":{"bad":{"command":"false"}}}' }), turns: () => [done], options: (c) => plugins(c, { skipMcpDiscovery: true }), each: async (m, q, c) => { if (m.type === 'result') c.out({ servers: await q.mcpServerStatus() }); } },
  'a plugin that is not there': { turns: () => [done], options: plugins, then: (c) => c.out({ asked: c.seen.length }), loose: 'the real program goes on without it' },
  'the main agent is of a plugin': { files: plug(), turns: () => [done], options: (c) => ({ ...plugins(c), agent: 'plug:reader' }), then: (c) => c.out({ told: JSON.stringify(c.seen[0].system).includes('Read.') }) },
  'reload plugins': { files: plug(), turns: () => [done, { calls: [['mcp__shop__price', { thing: 'hat' }]] }, done], prompts: () => [user('one'), user('/plug:new')], options: (c) => ({ ...bypass, ...plugins(c), mcpServers: { shop: shop(c) } }), each: async (m, q, c) => {
    if (m.type !== 'result' || c.n++ > 0) return;
    fs.writeFileSync(path.join(c.dir, 'plug/commands/new.md'), 'What is new?\n');
    const r = await q.reloadPlugins();
    c.out({ commands: r.commands.map((x) => x.name).filter((n) => n.startsWith('plug:')), plugins: r.plugins.map((p) => p.name).filter((n) => n === 'plug'), agents: r.agents.length > 0, errors: r.error_count });
  }, then: (c) => c.out({ told: JSON.stringify(c.seen[1].messages).includes('What is new?'), remembers: JSON.stringify(c.seen[1].messages).includes('one') }) },
  'reload plugins and add one': { files: plug(), turns: () => [done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) c.out({ plugins: (await q.reloadPlugins({ addPlugins: plugins(c).plugins })).plugins.map((p) => p.name).filter((n) => n === 'plug') }); } },
  'reload a plugin that is not there': { turns: () => [done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) c.out({ refused: await q.reloadPlugins({ addPlugins: plugins(c).plugins }).then(() => false, () => true) }); }, loose: 'the real program goes on without it' },
  'reload skills': { turns: () => [done], prompts: () => [user('one'), user('/sk')], each: async (m, q, c) => {
    if (m.type !== 'result' || c.n++ > 0) return;
    fs.mkdirSync(path.join(c.dir, '.claude/skills/sk'), { recursive: true });
    fs.writeFileSync(path.join(c.dir, '.claude/skills/sk/SKILL.md'), '---\nname: sk\ndescription: about sk\n---\nKnow sk.\n');
    c.out({ skills: (await q.reloadSkills()).skills.map((x) => x.name).filter((n) => n === 'sk') });
  }, then: (c) => c.out({ told: JSON.stringify(c.seen[1].messages).includes('Know sk.') }) },
  'reload under a hook': { turns: () => [done, bash('touch x'), done], prompts: () => [user('one'), user('two')], options: (c) => ({ ...bypass, ...hooks('PreToolUse', (i) => { c.out({ hook: i.tool_name }); return deny('no'); }, 'Bash') }), each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) c.out({ errors: (await q.reloadPlugins()).error_count }); }, then: (c) => c.out({ made: fs.existsSync(path.join(c.dir, 'x')) }) },
  'reload in a mode': { turns: (d) => [done, write(d), done], prompts: () => [user('one'), user('two')], each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) { await q.setPermissionMode('acceptEdits'); c.out({ errors: (await q.reloadPlugins()).error_count }); } }, then: (c) => c.out({ made: fs.existsSync(path.join(c.dir, 'a.txt')) }) },
  'reload in a turn': { turns: () => [bash('sleep 1'), done], options: () => bypass, each: async (m, q, c) => { if (m.type === 'assistant' && c.n++ === 0) c.out({ busy: await q.reloadPlugins({ refuseIfBusy: true }).then(() => false, () => true) }); } },
  'a question of the model': { turns: () => [{ calls: [['AskUserQuestion', { questions: [{ question: 'which?', header: 'Q', options: [{ label: 'red', description: '' }, { label: 'blue', description: '' }], multiSelect: false }] }]] }, done], options: (c) => ({ canUseTool: async (t, input) => { c.out({ asked: t, of: input.questions?.length }); return { behavior: 'allow', updatedInput: { ...input, answers: { 'which?': 'blue' } } }; } }) },
  'files go back': { loose: 'recorded with another flag', turns: (d) => [write(d), done], prompts: () => [user('one', { uuid: '3f0c6f3e-0000-4000-8000-0000000000aa' })], options: () => ({ permissionMode: 'acceptEdits', enableFileCheckpointing: true }), each: async (m, q, c) => { if (m.type === 'result') { const r = await q.rewindFiles('3f0c6f3e-0000-4000-8000-0000000000aa'); c.out({ back: r.canRewind, there: fs.existsSync(path.join(c.dir, 'a.txt')) }); } }, skipUser: true },
  'stop an agent': { turns: () => [{ calls: [['Agent', { description: 'look', prompt: 'look', subagent_type: 'general-purpose', run_in_background: false }]] }, (q) => (JSON.stringify(q.messages).includes('tool_result') ? done : { never: true })], options: () => bypass, each: async (m, q, c) => { if (m.subtype === 'task_started' && c.n++ === 0) c.out({ stopped: await q.stopTask(m.task_id).then(() => true, (e) => String(e)) }); } },
  'stop a task of nobody': { loose: 'the real program does not refuse it', turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ refused: await q.stopTask('none').then(() => false, () => true) }); } },
  'set servers': { turns: () => [done, { calls: [['mcp__shop__price', { thing: 'hat' }]] }, done], prompts: () => [user('one'), user('two')], options: () => bypass, each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) { c.out({ set: await q.setMcpServers({ shop: shop(c) }) }); c.out({ servers: (await q.mcpServerStatus()).map((s) => s.name) }); } } },
  'set servers and take them back': { turns: () => [done, { calls: [['mcp__shop__price', { thing: 'hat' }]] }, done], prompts: () => [user('one'), user('two')], options: () => bypass, each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) { await q.setMcpServers({ shop: shop(c) }); c.out({ set: await q.setMcpServers({}) }); } } },
  'set a server that fails': { turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') { const r = await q.setMcpServers({ bad: { command: 'false' } }); c.out({ added: r.added, removed: r.removed, errors: keysOf(r.errors) }); } } },
  'set servers under a rule': { turns: () => [done, { calls: [['mcp__shop__price', { thing: 'hat' }]] }, done], prompts: () => [user('one'), user('two')], options: () => ({ ...bypass, disallowedTools: ['mcp__shop'] }), each: async (m, q, c) => { if (m.type === 'result' && c.n++ === 0) c.out({ set: await q.setMcpServers({ shop: shop(c) }) }); } },
  elicitation: { files: { '../asks.mjs': ASKS }, ...asking, options: (c) => ({ ...bypass, ...asks(c), onElicitation: async (r) => { c.out({ elicited: r.serverName, message: r.message, mode: r.mode, schema: keysOf(r.requestedSchema?.properties) }); return { action: 'accept', content: { colour: 'blue' } }; } }), then: (c) => c.out({ told: JSON.stringify(c.seen).includes('it is blue') }) },
  'elicitation declined': { files: { '../asks.mjs': ASKS }, ...asking, options: (c) => ({ ...bypass, ...asks(c), onElicitation: async () => ({ action: 'decline' }) }), then: (c) => c.out({ told: JSON.stringify(c.seen).includes('it is decline') }) },
  'elicitation of nobody': { files: { '../asks.mjs': ASKS }, ...asking, options: (c) => ({ ...bypass, ...asks(c) }), then: (c) => c.out({ told: JSON.stringify(c.seen).includes('it is decline') }) },
  'a request that nobody has': { turns: () => [done], each: async (m, q, c) => { if (m.type === 'result') c.out({ refused: await q.toggleMcpServer('none', false).then(() => false, () => true) }); } },
};

const shape = (m) => {
  const s = { kind: m.subtype ? `${m.type}/${m.subtype}` : m.type };
  if (process.env.RAW) console.error(JSON.stringify(m));
  if (m.message?.content && Array.isArray(m.message.content)) s.blocks = m.message.content.map((b) => (b.type === 'tool_use' ? `tool_use ${b.name}` : b.type === 'tool_result' ? `tool_result${b.is_error ? ' error' : ''}` : b.type));
  if (m.parent_tool_use_id) s.inside = true;
  if (m.type === 'stream_event') s.event = m.event.type + (m.event.delta ? ' ' + (m.event.delta.type ?? 'stop') : '');
  if (m.type === 'result') Object.assign(s, { error: m.is_error, stop: m.stop_reason, denied: m.permission_denials.map((d) => d.tool_name), answer: typeof m.result, structured: m.structured_output });
  s.fields = keysOf(m).concat(m.message && typeof m.message === 'object' ? keysOf(m.message).map((k) => 'message.' + k) : []);
  return s;
};

async function play(name, c, id) {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'sdk-'));
  const dir = path.join(fs.realpathSync(root), 'proj');
  fs.mkdirSync(dir);
  for (const [f, text] of Object.entries(c.files ?? {})) { fs.mkdirSync(path.dirname(path.join(dir, f)), { recursive: true }); fs.writeFileSync(path.join(dir, f), text); }
  const s = { id, n: 0, turns: c.turns(dir), seen: [], tools: c.tools };
  scripts.set(String(id), s);
  const out = [];
  const ctx = { dir, seen: s.seen, n: 0, out: (o) => { out.push({ fact: o }); } };
  const run = async (more) => {
    const prompts = c.prompts?.(dir) ?? [user('go')];
    let next, at = 0;
    const stream = async function* () {
      for (const p of prompts) { if (at++ > 0 && !c.together) await new Promise((r) => (next = r)); yield p; }
      await new Promise((r) => (next = r));
    };
    const q = query({ prompt: stream(), options: {
      pathToClaudeCodeExecutable: process.env.PAWL, cwd: dir, model: process.env.MODEL ?? 'anthropic/claude-sonnet-4-5', stderr: (x) => process.env.LOUD && process.stderr.write(x), settingSources: ['project'],
      env: { ...process.env, HOME: path.join(root, 'home'), ANTHROPIC_API_KEY: 'sk-ant-test-0000000000000000', ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}/${id}`, IS_SANDBOX: '1', DISABLE_TELEMETRY: '1', DISABLE_ERROR_REPORTING: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
      ...c.options?.(ctx), ...more } });
    let results = 0, session;
    for await (const m of q) {
      session = m.session_id;
      out.push(shape(m));
      await c.each?.(m, q, ctx);
      if (m.type === 'result') { if (++results === prompts.length) break; next?.(); }
    }
    return session;
  };
  fs.mkdirSync(path.join(root, 'home'));
  try {
    const first = await run({});
    if (c.resumes) { const second = await run({ ...c.resumes(first, ctx) }); ctx.out({ same: first === second, remembers: s.seen.at(-1).messages.length > 1 }); }
    await c.then?.(ctx);
  } catch (e) { ctx.out({ threw: process.env.RECORD ? String(e).slice(0, 200) : String(e) }); }
  fs.rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  return { name, loose: c.loose, out };
}

const only = process.env.ONLY?.split(',');
const names = Object.keys(cases).filter((n) => !only || only.includes(n));
const all = new Array(names.length);
let at = 0;
await Promise.all(Array.from({ length: Number(process.env.AT_ONCE ?? 4) }, async () => {
  for (let i; (i = at++) < names.length; ) {
    const limit = new Promise((r) => setTimeout(() => r({ name: names[i], out: [{ fact: { hangs: true } }] }), Number(process.env.LIMIT ?? 60000)).unref());
    all[i] = await Promise.race([play(names[i], cases[names[i]], i + 1), limit]);
    console.log(JSON.stringify(all[i]));
  }
}));
process.exit(0);
