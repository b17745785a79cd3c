package sqlite

import (
	"fmt"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// packFrom is the size in bytes above which a content is compressed.
const packFrom = 1024

// How a body or a blob is stored.
const (
	plain  = 0
	zipped = 1
)

// packer compresses. An encoder takes half a megabyte, so unused ones are in a pool,
// which the garbage collector empties.
type packer struct {
	encoders, decoders sync.Pool
}

func (p *packer) encoder() (*zstd.Encoder, error) {
	if e, ok := p.encoders.Get().(*zstd.Encoder); ok {
		return e, nil
	}
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithWindowSize(128<<10), zstd.WithLowerEncoderMem(true), zstd.WithEncoderCRC(true))
}

func (p *packer) decoder() (*zstd.Decoder, error) {
	if d, ok := p.decoders.Get().(*zstd.Decoder); ok {
		return d, nil
	}
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxBlob+1<<20))
}

// in returns the bytes to store, and how they are stored.
func (p *packer) in(data []byte) ([]byte, int64, error) {
	if data == nil {
		data = []byte{} // the column is NOT NULL
	}
	if len(data) <= packFrom {
		return data, plain, nil
	}
	e, err := p.encoder()
	if err != nil {
		return nil, 0, err
	}
	out := e.EncodeAll(data, make([]byte, 0, len(data)/2))
	p.encoders.Put(e)
	if len(out) >= len(data) {
		return data, plain, nil
	}
	return out, zipped, nil
}

// out returns the original bytes of stored ones.
func (p *packer) out(data []byte, how int64) ([]byte, error) {
	switch how {
	case plain:
		return data, nil
	case zipped:
	default:
		return nil, fmt.Errorf("packed in a way (%d) that this pawl does not know", how)
	}
	d, err := p.decoder()
	if err != nil {
		return nil, err
	}
	defer p.decoders.Put(d)
	return d.DecodeAll(data, nil)
}
