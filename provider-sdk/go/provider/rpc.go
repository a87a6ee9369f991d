package provider

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	cpv1 "cloudwire.dev/provider-sdk/go/cloudprovider/v1"
	"cloudwire.dev/provider-sdk/go/internal/rules"
	"cloudwire.dev/provider-sdk/go/internal/server"
	"cloudwire.dev/provider-sdk/go/internal/state"
	"cloudwire.dev/provider-sdk/go/internal/telemetry"
	"google.golang.org/genproto/googleapis/rpc/code"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
)

const (
	// defaultDeadline is for a unary call whose caller set none; the contract's callers always set one.
	defaultDeadline = time.Minute
	// maxDeadline is the longest honored; the contract's callers never set more.
	maxDeadline = time.Hour
	// slowConsumer is how long a stream waits for a reader that does not read. Contract: WAT-5.
	slowConsumer = 30 * time.Second

	requestIDHeader = "x-request-id"
)

// rpcCall are the facts of one call that do not depend on its request.
type rpcCall struct {
	method      string
	mutation    bool
	requestID   string
	traceparent string
	log         *slog.Logger
}

type rpcCallKey struct{}

func rpcCallOf(ctx context.Context) rpcCall {
	call, _ := ctx.Value(rpcCallKey{}).(rpcCall)
	return call
}

// serviceDesc is the generated description with handlers around its own: admission, deadline, the error scheme, recovery,
// trailers, metrics. It is not done with interceptors because these come after the request was read, and a request that
// cannot be read needs an error of the contract too.
func (s *service) serviceDesc() *grpc.ServiceDesc {
	desc := cpv1.CloudProvider_ServiceDesc
	desc.Methods = make([]grpc.MethodDesc, len(cpv1.CloudProvider_ServiceDesc.Methods))
	for i, method := range cpv1.CloudProvider_ServiceDesc.Methods {
		desc.Methods[i] = grpc.MethodDesc{MethodName: method.MethodName, Handler: s.unaryHandler(method)}
	}
	desc.Streams = make([]grpc.StreamDesc, len(cpv1.CloudProvider_ServiceDesc.Streams))
	for i, stream := range cpv1.CloudProvider_ServiceDesc.Streams {
		wrapped := stream
		wrapped.Handler = s.streamHandler(stream)
		desc.Streams[i] = wrapped
	}
	return &desc
}

func (s *service) unaryHandler(method grpc.MethodDesc) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
		ctx, cancel := s.enter(ctx, method.MethodName)
		defer cancel()
		ctx, cancelDeadline := withDeadline(ctx)
		defer cancelDeadline()
		call := rpcCallOf(ctx)
		// fails only when the answer has been sent already
		grpc.SetTrailer(ctx, metadata.Pairs(requestIDHeader, call.requestID))
		started := time.Now()
		response, err := untilDone(ctx, func() (any, error) {
			if err := s.admit(call.method); err != nil {
				return nil, err
			}
			// The request is read here; the generated handler then calls the method of this service.
			return method.Handler(s, ctx, readable(call.method, decode), nil)
		})
		return response, s.ended(ctx, call, started, err)
	}
}

func (s *service) streamHandler(stream grpc.StreamDesc) grpc.StreamHandler {
	return func(_ any, wire grpc.ServerStream) error {
		ctx, cancel := s.enter(wire.Context(), stream.StreamName)
		defer cancel()
		call := rpcCallOf(ctx)
		wire.SetTrailer(metadata.Pairs(requestIDHeader, call.requestID))
		started := time.Now()
		_, err := state.Recovered(func() (any, error) {
			if err := s.admit(call.method); err != nil {
				return nil, err
			}
			return nil, stream.Handler(s, &serverStream{ServerStream: wire, ctx: ctx, method: call.method})
		})
		return s.ended(ctx, call, started, err)
	}
}

// enter opens a call: its id, its trace, its log, and its end when the server is forced down.
func (s *service) enter(ctx context.Context, method string) (context.Context, context.CancelFunc) {
	call := rpcCall{
		method:      method,
		mutation:    rules.Methods()[method].Mutation,
		requestID:   requestIDOf(ctx),
		traceparent: telemetry.Traceparent(firstHeader(ctx, "traceparent")),
	}
	call.log = s.log.With("method", method, "requestID", call.requestID)
	if traceID := telemetry.ExportedTraceID(call.traceparent); traceID != "" {
		call.log = call.log.With("traceID", traceID)
	}
	s.metrics.Begun(method)
	ctx, cancel := context.WithCancelCause(context.WithValue(ctx, rpcCallKey{}, call))
	stop := context.AfterFunc(s.forced, func() { cancel(errDraining()) })
	return ctx, func() { stop(); cancel(nil) }
}

func withDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, defaultDeadline)
	}
	if latest := time.Now().Add(maxDeadline); deadline.After(latest) {
		return context.WithDeadline(ctx, latest)
	}
	return ctx, func() {}
}

// admit refuses calls of capabilities that are not claimed, whatever they say, and new calls during the drain.
func (s *service) admit(method string) error {
	select {
	case <-s.draining:
		return errDraining()
	default:
	}
	if isClaimed(s.capabilities, rules.Methods()[method].Capability) {
		return nil
	}
	return NewError(ReasonCapabilityAbsent, "This provider does not serve "+method+"; its handshake says so")
}

// readable makes an error of the contract out of bytes that are no such request.
func readable(method string, decode func(any) error) func(any) error {
	return func(message any) error {
		if err := decode(message); err != nil {
			return NewError(ReasonFieldInvalid, "The request of "+method+" is not a valid protobuf message", Cause(err))
		}
		return nil
	}
}

type outcome[Value any] struct {
	value Value
	err   error
}

// untilDone does the work until the call ends: a handler that ignores its context must not keep the caller.
func untilDone(ctx context.Context, work func() (any, error)) (any, error) {
	done := make(chan outcome[any], 1)
	go func() {
		value, err := state.Recovered(work)
		done <- outcome[any]{value, err}
	}()
	select {
	case out := <-done:
		return out.value, out.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// usable is the error, or the panic of its methods: those of a nil pointer in an error above all.
func usable(err error) error {
	_, failed := state.Recovered(func() (string, error) {
		errors.As(err, new(*state.PanicError))
		return err.Error(), nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// ended counts and logs the end of a call and answers what the peer sees.
func (s *service) ended(ctx context.Context, call rpcCall, started time.Time, err error) error {
	elapsed := time.Since(started)
	if err == nil {
		s.metrics.Ended(call.method, "OK", "", elapsed)
		call.log.Debug("Answered", "elapsedMs", elapsed.Milliseconds())
		return nil
	}
	err = usable(err)
	known, masked := s.toError(ctx, call, err)
	reported := permitted(known, call.method, false)
	s.metrics.Ended(call.method, codeName(reported.code), reported.reason, elapsed)
	logFailure(call.log, reported, err, masked || reported != known)
	return reported
}

// logFailure writes what the peer must not see, as loud as it matters to an operator.
func logFailure(log *slog.Logger, reported *Error, err error, unexpected bool) {
	fields := []any{"reason", reported.reason, "error", errorText(err)}
	var panicked *state.PanicError
	switch {
	case errors.As(err, &panicked):
		log.Error("A call panicked", append(fields, "stack", string(panicked.Stack))...)
	case unexpected:
		log.Error("A call failed in a way the provider did not expect", fields...)
	case reported.code == codes.Unknown || reported.code == codes.PermissionDenied || reported.code == codes.Internal || reported.code == codes.Unauthenticated:
		log.Warn("A call failed", fields...)
	default:
		log.Debug("A call failed", fields...)
	}
}

// errorText is an error with the errors behind it.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	// The methods of a vendor's error may panic, those of a nil pointer in an error above all.
	text, failed := state.Recovered(func() (string, error) {
		text := err.Error()
		var stated *Error
		if errors.As(err, &stated) && stated.cause != nil {
			text += ": " + stated.cause.Error()
		}
		return text, nil
	})
	if failed != nil {
		return fmt.Sprintf("a %T whose methods panic", err)
	}
	return text
}

func (s *service) toError(ctx context.Context, call rpcCall, err error) (known *Error, masked bool) {
	var stated *Error
	if !errors.As(err, &stated) && ctx.Err() != nil {
		// The deadline's own error says more than whatever its passing made the handler return.
		return deadlinePassed(call, err), false
	}
	return classify(err, call.mutation, call.requestID)
}

// codeName is a code as the contract writes it: RESOURCE_EXHAUSTED.
func codeName(c codes.Code) string { return code.Code(c).String() } // codes are 0 to 16

func deadlinePassed(call rpcCall, cause error) *Error {
	if call.mutation {
		return NewError(ReasonDeadlinePassed,
			call.method+" did not end before its deadline; the change may still be under way", Cause(cause))
	}
	return NewError(ReasonCloudTimeout, call.method+" did not end before its deadline", Cause(cause))
}

func errDraining() *Error {
	return NewError(ReasonProviderDraining, "The provider is shutting down; call again when it is back", RetryAfter(time.Second))
}

func requestIDOf(ctx context.Context) string {
	if given := firstHeader(ctx, requestIDHeader); telemetry.IsRequestID(given) {
		return given
	}
	return newID()
}

func firstHeader(ctx context.Context, key string) string {
	if values := metadata.ValueFromIncomingContext(ctx, key); len(values) > 0 {
		return values[0]
	}
	return ""
}

// serverStream is a stream with the context of its call, errors of the contract, and an end for readers that do not read.
type serverStream struct {
	grpc.ServerStream
	ctx    context.Context // a stream has its context by gRPC's design
	method string
}

// Context is that of the call.
func (s *serverStream) Context() context.Context { return s.ctx }

// RecvMsg reads a request.
func (s *serverStream) RecvMsg(message any) error {
	raw := &server.RawMessage{}
	if err := s.ServerStream.RecvMsg(raw); err != nil {
		return err
	}
	return readable(s.method, func(message any) error {
		typed, ok := message.(proto.Message)
		if !ok {
			return fmt.Errorf("%T is no message", message)
		}
		return proto.Unmarshal(raw.Bytes, typed)
	})(message)
}

// SendMsg waits no longer than slowConsumer for the reader.
func (s *serverStream) SendMsg(message any) error {
	sent := make(chan error, 1)
	go func() { sent <- s.ServerStream.SendMsg(message) }()
	timer := time.NewTimer(slowConsumer)
	defer timer.Stop()
	select {
	case err := <-sent:
		return err
	case <-s.ctx.Done():
		return context.Cause(s.ctx)
	case <-timer.C:
		return NewError(ReasonSlowConsumer, "The reader of the stream took nothing for "+slowConsumer.String())
	}
}
