// Package doc holds the file of the documentation that pawl prints.
package doc

import _ "embed"

// ConfigSchema is the JSON schema of the configuration, for editors. A test of
// adapter/settings writes it from the types there.
//
//go:embed config.schema.json
var ConfigSchema []byte
