package mcpserve

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// The resources: what the tools status and diff return. Programs can subscribe to them.
const (
	statusURI = "pawl://status"
	diffURI   = "pawl://diff/" // and the key of a diff
	diffsURI  = diffURI + "{of}"
)

// diffs are the changes that can be read, by the last part of their URI.
var diffs = map[string]undo.Kind{"turn": undo.ByTurn, "session": undo.ByAll}

func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{
		URI: statusURI, Name: "status", Title: "What pawl is doing", MIMEType: "application/json", Description: "The result of the tool status.",
	}, func(_ context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		st, err := s.state(r.Session)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(st)
		return content(r, "application/json", string(raw)), err
	})
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: diffsURI, Name: "diff", Title: "What pawl changed", MIMEType: "text/x-diff", Description: "The changes of the last turn (of: turn), or of the whole session (of: session), as a unified diff.",
	}, func(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		of, known := diffs[strings.TrimPrefix(r.Params.URI, diffURI)]
		if !known {
			return nil, sdk.ResourceNotFoundError(r.Params.URI)
		}
		text, err := s.changes(ctx, r.Session, of)
		return content(r, "text/x-diff", text), err
	})
}

func content(r *sdk.ReadResourceRequest, typ, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: r.Params.URI, MIMEType: typ, Text: text}}}
}

// subscribed refuses subscriptions to what does not exist.
func subscribed(_ context.Context, r *sdk.SubscribeRequest) error {
	of, is := strings.CutPrefix(r.Params.URI, diffURI)
	if _, known := diffs[of]; r.Params.URI != statusURI && !(is && known) {
		return sdk.ResourceNotFoundError(r.Params.URI)
	}
	return nil
}

// updated tells the programs that subscribed that a turn or an undo has ended.
func (s *Server) updated() {
	uris := []string{statusURI}
	for of := range diffs {
		uris = append(uris, diffURI+of)
	}
	for _, uri := range uris {
		_ = s.sdk.ResourceUpdated(s.own, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // one that is gone needs it no more
	}
}

// complete returns the values of an argument that begin with what was typed.
func complete(_ context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	values := []string{}
	if ref := r.Params.Ref; ref != nil && ref.URI == diffsURI && r.Params.Argument.Name == "of" {
		for of := range diffs {
			if strings.HasPrefix(of, r.Params.Argument.Value) {
				values = append(values, of)
			}
		}
	}
	slices.Sort(values)
	return &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: values, Total: len(values)}}, nil
}
