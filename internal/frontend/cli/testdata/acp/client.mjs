// An editor, by the official library: two turns, of which the first asks for a permission
// and is allowed, and the second is cancelled while a command runs; then a change of the
// mode, the list, and the same session loaded again. VERSION is the protocol's. It prints
// what the test looks at, a line of JSON each.
import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { Readable, Writable } from 'node:stream';
const v2 = process.env.VERSION === '2';
const acp = await import(process.env.SDK + (v2 ? '/dist/v2/stable/acp.js' : '/dist/v1/stable/acp.js'));
const out = (o) => console.log(JSON.stringify(o));
const pawl = spawn(process.env.PAWL, ['acp', '-m', process.env.MODEL], { cwd: process.env.DIR, stdio: ['pipe', 'pipe', 'inherit'] });
const stream = acp.ndJsonStream(Writable.toWeb(pawl.stdin), Readable.toWeb(pawl.stdout));
const agent = acp.methods.agent;
let ctx, session, wake = () => {};
const cancelling = new Set();
const app = acp.client({ name: 'test' });
app.onRequest(acp.methods.client.session.requestPermission, ({ params }) => {
  out({ asked: params.title ?? params.toolCall.title, options: params.options.map((o) => o.kind), call: params.toolCall ?? params.subject?.toolCall });
  return { outcome: { outcome: 'selected', optionId: params.options.find((o) => o.kind === 'allow_once').optionId } };
});
const inFolder = (p) => p.slice(process.env.DIR.length + 1);
if (!v2) {
  app.onRequest(acp.methods.client.fs.readTextFile, async ({ params }) => ({ content: await readFile(params.path, 'utf8') }));
  app.onRequest(acp.methods.client.fs.writeTextFile, async ({ params }) => {
    out({ saved: inFolder(params.path) });
    await writeFile(params.path, params.content);
    return {};
  });
}
app.onNotification(acp.methods.client.session.update, ({ params }) => {
  const u = params.update;
  out({ update: u.sessionUpdate, ...u });
  if (u.sessionUpdate === 'state_update' && u.state === 'idle') wake(u.stopReason);
  if (u.status === 'in_progress' && u.kind === 'execute') ctx.notify(agent.session.cancel, { sessionId: session });
});
const prompt = async (text) => {
  const idle = new Promise((r) => (wake = r));
  const r = await ctx.request(agent.session.prompt, { sessionId: session, prompt: [{ type: 'text', text }] });
  out({ stop: v2 ? await idle : r.stopReason });
};
await app.connectWith(stream, async (c) => {
  ctx = c;
  const hello = await ctx.request(agent.initialize, v2
    ? { protocolVersion: 2, info: { name: 'test', version: '1' }, capabilities: {} }
    : { protocolVersion: 1, clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, auth: { terminal: true } }, clientInfo: { name: 'test', version: '1' } });
  out({ hello: hello.protocolVersion, ways: hello.authMethods.map((m) => m.id) });
  if (!v2) {
    await ctx.request(agent.authenticate, { methodId: 'key' });
    await ctx.request(agent.authenticate, { methodId: 'none' }).catch((e) => out({ error: e.code }));
  }
  const opened = await ctx.request(agent.session.new, { cwd: process.env.DIR, mcpServers: [] });
  session = opened.sessionId;
  out({ options: opened.configOptions.map((o) => o.configId ?? o.id), modes: opened.modes?.currentModeId });
  await prompt('write the file');
  await prompt('wait');
  const set = await ctx.request(agent.session.setConfigOption, { sessionId: session, configId: 'mode', ...(v2 ? { type: 'id' } : {}), value: 'plan' });
  out({ mode: set.configOptions.find((o) => (o.configId ?? o.id) === 'mode').currentValue });
  const thinks = await ctx.request(agent.session.setConfigOption, { sessionId: session, configId: 'effort', ...(v2 ? { type: 'id' } : {}), value: 'low' });
  out({ effort: thinks.configOptions.find((o) => (o.configId ?? o.id) === 'effort').currentValue });
  await ctx.request(agent.session.setConfigOption, { sessionId: session, configId: 'effort', ...(v2 ? { type: 'id' } : {}), value: 'endless' }).catch((e) => out({ error: e.code }));
  await ctx.request(agent.session.close, { sessionId: session });
  const list = await ctx.request(agent.session.list, { cwd: process.env.DIR });
  out({ listed: list.sessions.some((s) => s.sessionId === session) });
  out({ loading: true });
  await (v2 ? ctx.request(agent.session.resume, { sessionId: session, cwd: process.env.DIR, replayFrom: { type: 'start' } })
    : ctx.request(agent.session.load, { sessionId: session, cwd: process.env.DIR, mcpServers: [] }));
  out({ loaded: true });
  if (!v2) await ctx.request(agent.session.setMode, { sessionId: session, modeId: 'accept-edits' });
  await ctx.request(agent.session.close, { sessionId: session });
  await ctx.request(agent.session.delete, { sessionId: session });
  out({ left: (await ctx.request(agent.session.list, { cwd: process.env.DIR })).sessions.length });
  await ctx.request(agent.session.prompt, { sessionId: 'nobody', prompt: [{ type: 'text', text: 'x' }] }).catch((e) => out({ error: e.code }));
});
pawl.stdin.end();
await new Promise((r) => pawl.on('exit', (code) => { out({ exit: code }); r(); }));
process.exit(0);
