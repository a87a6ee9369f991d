// Package server is what a provider listens on.
package server

import (
	"google.golang.org/grpc/encoding"
	// Registers the codec that this one asks.
	protocodec "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// RawMessage is a message that has not been read yet.
type RawMessage struct{ Bytes []byte }

// codec reads messages as gRPC does, but for RawMessage: the request of a stream that cannot be read would be answered by gRPC
// itself, without an error of the contract.
type codec struct{ encoding.CodecV2 }

// NewCodec makes it.
func NewCodec() encoding.CodecV2 { return codec{encoding.GetCodecV2(protocodec.Name)} }

// Unmarshal reads a message.
func (c codec) Unmarshal(data mem.BufferSlice, message any) error {
	if raw, ok := message.(*RawMessage); ok {
		raw.Bytes = data.Materialize()
		return nil
	}
	return c.CodecV2.Unmarshal(data, message)
}
