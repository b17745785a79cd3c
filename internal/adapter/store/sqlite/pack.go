package sqlite

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packFrom is the size in bytes from which compressing pays.
const packFrom = 1024

// How a body or a blob is kept.
const (
	plain  = 0
	zipped = 1
)

// packer compresses. Both halves are slow to build, so they are built when
// first needed and kept small.
type packer struct {
	encOnce, decOnce sync.Once
	enc              *zstd.Encoder
	dec              *zstd.Decoder
	encErr, decErr   error
}

// in returns what to store, and how it is kept.
func (p *packer) in(data []byte) ([]byte, int64, error) {
	if data == nil {
		data = []byte{} // the column is NOT NULL
	}
	if len(data) <= packFrom {
		return data, plain, nil
	}
	p.encOnce.Do(func() {
		p.enc, p.encErr = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
			zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(true))
	})
	if p.encErr != nil {
		return nil, 0, p.encErr
	}
	out := p.enc.EncodeAll(data, make([]byte, 0, len(data)/2))
	if len(out) >= len(data) {
		return data, plain, nil
	}
	return out, zipped, nil
}

// out returns what was stored.
func (p *packer) out(data []byte, how int64) ([]byte, error) {
	switch how {
	case plain:
		return data, nil
	case zipped:
	default:
		return nil, fmt.Errorf("packed in a way (%d) that this pawl does not know", how)
	}
	p.decOnce.Do(func() {
		p.dec, p.decErr = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(maxBlob+1<<20))
	})
	if p.decErr != nil {
		return nil, p.decErr
	}
	return p.dec.DecodeAll(data, nil)
}
