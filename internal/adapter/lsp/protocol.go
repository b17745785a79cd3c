package lsp

import "encoding/json"

// This file declares the types of the protocol that are used. Names and meanings are
// those of the specification of LSP 3.17.

type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

type textRange struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type location struct {
	URI   string    `json:"uri"`
	Range textRange `json:"range"`
}

type locationLink struct {
	TargetURI            string    `json:"targetUri"`
	TargetRange          textRange `json:"targetRange"`
	TargetSelectionRange textRange `json:"targetSelectionRange"`
}

type documentID struct {
	URI     string `json:"uri"`
	Version *int   `json:"version,omitempty"`
}

type textDocument struct {
	URI        string `json:"uri"`
	LanguageID string `json:"languageId"`
	Version    int    `json:"version"`
	Text       string `json:"text"`
}

type didOpen struct {
	TextDocument textDocument `json:"textDocument"`
}

type didChange struct {
	TextDocument   documentID    `json:"textDocument"`
	ContentChanges []contentEdit `json:"contentChanges"`
}

// contentEdit without a range replaces the whole text.
type contentEdit struct {
	Range *textRange `json:"range,omitempty"`
	Text  string     `json:"text"`
}

type didSave struct {
	TextDocument documentID `json:"textDocument"`
	Text         *string    `json:"text,omitempty"`
}

type didClose struct {
	TextDocument documentID `json:"textDocument"`
}

// Kinds of fileEvent.
const (
	fileCreated = 1
	fileChanged = 2
	fileDeleted = 3
)

type fileEvent struct {
	URI  string `json:"uri"`
	Type int    `json:"type"`
}

type didChangeWatched struct {
	Changes []fileEvent `json:"changes"`
}

type positionParams struct {
	TextDocument documentID `json:"textDocument"`
	Position     position   `json:"position"`
}

type referenceParams struct {
	positionParams
	Context struct {
		IncludeDeclaration bool `json:"includeDeclaration"`
	} `json:"context"`
}

type renameParams struct {
	positionParams
	NewName string `json:"newName"`
}

type documentParams struct {
	TextDocument documentID `json:"textDocument"`
}

type symbolParams struct {
	Query string `json:"query"`
}

type diagnostic struct {
	Range    textRange       `json:"range"`
	Severity int             `json:"severity,omitempty"`
	Code     json.RawMessage `json:"code,omitempty"`
	Source   string          `json:"source,omitempty"`
	Message  string          `json:"message"`
	Data     json.RawMessage `json:"data,omitempty"`
}

type publishDiagnostics struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"`
	Diagnostics []diagnostic `json:"diagnostics"`
}

type documentReport struct {
	Kind     string                    `json:"kind"` // full or unchanged
	ResultID string                    `json:"resultId,omitempty"`
	Items    []diagnostic              `json:"items"`
	Related  map[string]documentReport `json:"relatedDocuments,omitempty"`
}

type pullParams struct {
	TextDocument     documentID `json:"textDocument"`
	Identifier       string     `json:"identifier,omitempty"`
	PreviousResultID string     `json:"previousResultId,omitempty"`
}

type textEdit struct {
	Range   textRange `json:"range"`
	NewText string    `json:"newText"`
}

// documentChange is one element of documentChanges: edits of a document, or a file that
// is created, renamed or deleted.
type documentChange struct {
	Kind         string     `json:"kind"`
	TextDocument documentID `json:"textDocument"`
	Edits        []textEdit `json:"edits"`
	URI          string     `json:"uri"`
	OldURI       string     `json:"oldUri"`
	NewURI       string     `json:"newUri"`
	Options      struct {
		Overwrite         bool `json:"overwrite"`
		IgnoreIfExists    bool `json:"ignoreIfExists"`
		IgnoreIfNotExists bool `json:"ignoreIfNotExists"`
	} `json:"options"`
}

type workspaceEdit struct {
	Changes         map[string][]textEdit `json:"changes"`
	DocumentChanges []documentChange      `json:"documentChanges"`
}

type applyEditParams struct {
	Label string        `json:"label"`
	Edit  workspaceEdit `json:"edit"`
}

type command struct {
	Title     string            `json:"title"`
	Command   string            `json:"command"`
	Arguments []json.RawMessage `json:"arguments,omitempty"`
}

type codeAction struct {
	Title    string         `json:"title"`
	Kind     string         `json:"kind,omitempty"`
	Edit     *workspaceEdit `json:"edit,omitempty"`
	Command  *command       `json:"command,omitempty"`
	Disabled *struct {
		Reason string `json:"reason"`
	} `json:"disabled,omitempty"`
	Preferred bool `json:"isPreferred,omitempty"`

	raw json.RawMessage // as the server sent it, with fields that only the server understands
}

type actionParams struct {
	TextDocument documentID `json:"textDocument"`
	Range        textRange  `json:"range"`
	Context      struct {
		Diagnostics []diagnostic `json:"diagnostics"`
		Only        []string     `json:"only,omitempty"`
		TriggerKind int          `json:"triggerKind"`
	} `json:"context"`
}

type hover struct {
	Contents json.RawMessage `json:"contents"`
}

type completionItem struct {
	Label    string `json:"label"`
	Kind     int    `json:"kind,omitempty"`
	Detail   string `json:"detail,omitempty"`
	SortText string `json:"sortText,omitempty"`
}

type documentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail"`
	Kind           int              `json:"kind"`
	Range          textRange        `json:"range"`
	SelectionRange textRange        `json:"selectionRange"`
	Children       []documentSymbol `json:"children"`
	// The older form, a list without children.
	Location      *location `json:"location"`
	ContainerName string    `json:"containerName"`
}

type workspaceSymbol struct {
	Name          string   `json:"name"`
	Kind          int      `json:"kind"`
	Location      location `json:"location"`
	ContainerName string   `json:"containerName"`
}

type registration struct {
	ID              string          `json:"id"`
	Method          string          `json:"method"`
	RegisterOptions json.RawMessage `json:"registerOptions,omitempty"`
}

// feature is a capability that is true, false, or an object of options.
type feature struct {
	on      bool
	options json.RawMessage
}

func (f *feature) UnmarshalJSON(b []byte) error {
	f.on = string(b) != "false" && string(b) != "null"
	if f.on && string(b) != "true" {
		f.options = append(json.RawMessage(nil), b...)
	}
	return nil
}

type serverCapabilities struct {
	PositionEncoding string          `json:"positionEncoding"`
	Sync             json.RawMessage `json:"textDocumentSync"`
	Definition       feature         `json:"definitionProvider"`
	References       feature         `json:"referencesProvider"`
	Hover            feature         `json:"hoverProvider"`
	Completion       feature         `json:"completionProvider"`
	DocumentSymbol   feature         `json:"documentSymbolProvider"`
	WorkspaceSymbol  feature         `json:"workspaceSymbolProvider"`
	Rename           feature         `json:"renameProvider"`
	CodeAction       feature         `json:"codeActionProvider"`
	ExecuteCommand   feature         `json:"executeCommandProvider"`
	Diagnostic       feature         `json:"diagnosticProvider"`
}

// symbolKinds are the names of SymbolKind, from 1.
var symbolKinds = [...]string{
	"", "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
	"interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null",
	"enum member", "struct", "event", "operator", "type parameter",
}

// completionKinds are the names of CompletionItemKind, from 1.
var completionKinds = [...]string{
	"", "text", "method", "function", "constructor", "field", "variable", "class", "interface", "module", "property",
	"unit", "value", "enum", "keyword", "snippet", "color", "file", "reference", "folder", "enum member", "constant",
	"struct", "event", "operator", "type parameter",
}

func kindName(kinds []string, k int) string {
	if k < 1 || k >= len(kinds) {
		return ""
	}
	return kinds[k]
}
