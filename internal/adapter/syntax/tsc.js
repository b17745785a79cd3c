// Prints what the compiler newly finds in a project, an error a line: file, line, message.
// Arguments: the compiler's module, the project's tsconfig.json, how many errors at most.
// Input: the changed files, and each one's text before the change; null if it did not exist.
const [, compiler, config, most] = process.argv, fs = require("fs"), path = require("path");
const ts = require(compiler), changed = new Map(Object.entries(JSON.parse(fs.readFileSync(0, "utf8"))));

// The project itself, or the one of its references that has a changed file.
function project(file, depth = 0) {
  const read = ts.getParsedCommandLineOfConfigFile(file, { noEmit: true, composite: false, incremental: false, declaration: false, emitDeclarationOnly: false, tsBuildInfoFile: undefined, skipLibCheck: true }, { ...ts.sys, onUnRecoverableConfigFileDiagnostic() {} });
  if (!read || read.fileNames.some(f => changed.has(path.normalize(f))) || depth > 3) return read;
  for (const r of read.projectReferences || []) {
    const p = project(ts.resolveProjectReferencePath(r), depth + 1);
    if (p && p.fileNames.some(f => changed.has(path.normalize(f)))) return p;
  }
  return read;
}

const { fileNames, options } = project(config), parsed = new Map();

// A program over the files as they are, or as they were before the change.
function program(before, old) {
  const host = ts.createCompilerHost(options), was = f => before ? changed.get(path.normalize(f)) : undefined;
  const { fileExists, readFile, getSourceFile } = host;
  host.fileExists = f => was(f) === undefined ? fileExists(f) : was(f) !== null;
  host.readFile = f => was(f) === undefined ? readFile(f) : was(f) ?? undefined;
  host.getSourceFile = (f, language, ...rest) => {
    if (was(f) !== undefined) return was(f) === null ? undefined : ts.createSourceFile(f, was(f), language);
    if (!parsed.has(f)) parsed.set(f, getSourceFile(f, language, ...rest));
    return parsed.get(f);
  };
  return ts.createProgram(fileNames.filter(host.fileExists), options, host, old);
}

const errors = (p, source) => source ? [...p.getSyntacticDiagnostics(source), ...p.getSemanticDiagnostics(source)]
  .filter(d => d.category === ts.DiagnosticCategory.Error)
  .map(d => ({ line: source.getLineAndCharacterOfPosition(d.start ?? 0).line + 1, text: ts.flattenDiagnosticMessageText(d.messageText, " ") })) : [];

const now = program(false), own = now.getSourceFiles().filter(s => !s.isDeclarationFile && !now.isSourceFileFromExternalLibrary(s));
own.sort((a, b) => changed.has(path.normalize(b.fileName)) - changed.has(path.normalize(a.fileName)));
let before, told = 0;
for (const source of own) {
  const found = errors(now, source);
  if (!found.length) continue;
  before ??= program(true, now);
  const known = new Set(errors(before, before.getSourceFile(source.fileName)).map(e => e.text));
  for (const e of found) {
    if (known.has(e.text)) continue;
    fs.writeSync(1, JSON.stringify([source.fileName, e.line, e.text]) + "\n");
    if (++told >= most) process.exit(0);
  }
}
