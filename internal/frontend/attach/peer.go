package attach

import (
	"errors"
	"net"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// refusal returns why the process at the other end may not take part, nil if it may:
// one that pawl itself started would answer pawl's own questions, so who it is
// must be known. To watch changes nothing and needs no such fact.
func (o *owner) refusal(c net.Conn) *event.Fault {
	err := checkPeer(c, func(pid int) error {
		started, err := o.onWatcher(pid)
		if started {
			return fault.NewConfiguration("attach from a terminal that you opened", "only a person can use --steer, and process %d was started by an agent", pid)
		}
		return err
	})
	if known := (*fault.Error)(nil); err != nil && !errors.As(err, &known) {
		err = fault.NewConfiguration("watch it without --steer, and answer where the session is open", "cannot find out who wants to take part: %v", err)
	}
	return faultOf(err)
}
