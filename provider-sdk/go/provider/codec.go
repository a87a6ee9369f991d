package provider

import (
	"google.golang.org/grpc/encoding"
	// Registers the codec that this one asks.
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// rawMessage is a message that has not been read yet.
type rawMessage struct{ bytes []byte }

// codec reads messages as gRPC does, but for rawMessage: the request of a stream that cannot be read would be answered by gRPC
// itself, without an error of the contract.
type codec struct{ encoding.CodecV2 }

func newCodec() codec { return codec{encoding.GetCodecV2(protocodec.Name)} }

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, message any) error {
	if raw, ok := message.(*rawMessage); ok {
		raw.bytes = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, message)
}
