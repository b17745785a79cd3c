package acp

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// block is a part of a prompt. Type determines which fields are set.
type block struct {
	Type string `json:"type"` // text, image, audio, resource_link, resource

	Text string `json:"text"`

	Media string `json:"mimeType"` // image, audio
	Data  []byte `json:"data"`

	URI  string `json:"uri"` // resource_link
	Name string `json:"name"`

	Resource struct { // resource
		URI  string `json:"uri"`
		Text string `json:"text"`
		Blob []byte `json:"blob"`
		Type string `json:"mimeType"`
	} `json:"resource"`
}

// prompt is what a person sent.
type prompt struct {
	text  string
	media []llm.Media
	// typed: it is one text, which may be a command.
	typed bool
}

// promptOf reads a prompt. A link to a file of the workspace becomes a mention, which
// pawl attaches under the rules of reading; a text that the editor sends along is part of
// the prompt.
func promptOf(dir string, blocks []block) (prompt, error) {
	p := prompt{typed: len(blocks) == 1 && blocks[0].Type == "text"}
	var b strings.Builder
	attach := func(typ string, data []byte) error {
		m, err := llm.NewMedia(typ, data)
		if err != nil {
			return refuse(invalid, "%v", err)
		}
		p.media = append(p.media, m)
		return nil
	}
	for _, bl := range blocks {
		switch bl.Type {
		case "text":
			b.WriteString(bl.Text)
		case "image", "audio":
			if err := attach(bl.Media, bl.Data); err != nil {
				return p, err
			}
		case "resource_link":
			b.WriteString(mention(dir, bl))
		case "resource":
			r := bl.Resource
			if r.Text != "" {
				b.WriteString("\n\n" + displayPath(dir, r.URI) + ":\n" + fenced("", r.Text) + "\n\n")
				continue
			}
			if err := attach(r.Type, r.Blob); err != nil {
				return p, err
			}
			b.WriteString(" [" + displayPath(dir, r.URI) + "] ")
		default:
			return p, refuse(invalid, "pawl takes no content of the type %q; text, image, audio, resource and resource_link exist", bl.Type)
		}
	}
	p.text = strings.TrimSpace(b.String())
	if p.text == "" && len(p.media) == 0 {
		return p, refuse(invalid, "the prompt is empty")
	}
	return p, nil
}

// mention returns a link as a mention of the prompt.
func mention(dir string, bl block) string {
	path, ok := inside(dir, bl.URI)
	if !ok || strings.ContainsAny(path, "\"\n") { // no mention can name it
		return fmt.Sprintf(" %s (%s) ", bl.Name, bl.URI)
	}
	return ` @"` + path + `" `
}

func displayPath(dir, uri string) string {
	if path, ok := inside(dir, uri); ok {
		return path
	}
	return uri
}

// inside returns the path of a file of the workspace, relative to it.
func inside(dir, uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" {
		return "", false
	}
	path, err := filepath.Rel(dir, filepath.FromSlash(u.Path))
	if err != nil || !filepath.IsLocal(path) {
		return "", false
	}
	return filepath.ToSlash(path), true
}
