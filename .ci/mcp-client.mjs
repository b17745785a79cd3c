// The client of the official MCP conformance suite: `node mcp-client.mjs PAWL URL` makes
// the program PAWL do in an empty home what a person would do in each scenario.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [pawl, url] = process.argv.slice(2);
const scenario = process.env.MCP_CONFORMANCE_SCENARIO;
const about = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT || "{}");
const home = mkdtempSync(join(tmpdir(), "client-"));

// What the person knows of the server, and writes into their mcp.json.
const oauth = { clientId: about.client_id, clientSecret: about.client_secret, privateKey: about.private_key_pem };
if (scenario === "auth/basic-cimd") oauth.clientId = "https://conformance-test.local/client-metadata.json";
if (scenario.startsWith("auth/client-credentials")) oauth.grant = "client_credentials";
if (about.idp_token_endpoint) {
  oauth.grant = "jwt-bearer";
  oauth.idp = { tokenEndpoint: about.idp_token_endpoint, clientId: about.idp_client_id, idToken: about.idp_id_token };
}
if (oauth.grant) {
  const at = new URL(url);
  at.pathname = "/.well-known/oauth-protected-resource" + at.pathname;
  oauth.issuer = (await (await fetch(at)).json()).authorization_servers[0];
}
mkdirSync(join(home, "pawl"));
writeFileSync(join(home, "pawl", "mcp.json"), JSON.stringify({ mcpServers: { suite: { type: "http", url, oauth, acceptDefaults: true } } }));

// run returns the exit code of pawl, and what it said; the browser follows addresses.
function run(...args) {
  return new Promise((done) => {
    const p = spawn(pawl, ["mcp", ...args], { cwd: home, env: { ...process.env, HOME: home, XDG_CONFIG_HOME: home }, stdio: ["ignore", "inherit", "pipe"] });
    let said = "";
    p.stderr.setEncoding("utf8").on("data", (text) => {
      process.stderr.write(text);
      const before = /^http.*\n/m.test(said);
      said += text;
      const address = said.match(/^(http\S+)\n/m);
      if (args[0] === "login" && address && !before) fetch(address[1]).catch((e) => console.error(e));
    });
    p.on("close", (code) => done({ code, said }));
  });
}

const calls = {
  initialize: ["test", "suite"],
  tools_call: ["call", "suite", "add_numbers", '{"a":5,"b":3}'],
  "elicitation-sep1034-client-defaults": ["call", "suite", "test_client_elicitation_defaults"],
  "sse-retry": ["call", "suite", "test_reconnection"],
};
let last;
for (let tries = 0; tries < 3; tries++) {
  last = await run(...(calls[scenario] ?? ["call", "suite", "test-tool"]));
  if (last.code === 0 || !last.said.includes("pawl mcp login suite")) break;
  if ((await run("login", "suite")).code !== 0) break;
}
rmSync(home, { recursive: true });
process.exit(last.code);
