package permission

import "github.com/pawl-agent/pawl/internal/core/process"

// confine returns what the processes of a call may touch.
func (p *Policy) confine() process.Confine { return process.Free }
