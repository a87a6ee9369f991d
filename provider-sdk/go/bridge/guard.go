package bridge

import (
	"context"
	"fmt"
	"runtime/debug"

	"cloudwire.dev/provider-sdk/go/provider"
)

// guarded calls the vendor's code. A panic becomes an error, and its stack a line of the log; a call that outlives ctx is left
// behind, for upstream's providers were never held to a deadline and not all look at ctx.
func guarded[T any](ctx context.Context, what string, call func(context.Context) (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		var out outcome
		defer func() {
			if thrown := recover(); thrown != nil {
				out.err = panicked(ctx, what, thrown)
			}
			done <- out
		}()
		out.value, out.err = call(ctx)
	}()
	select {
	case out := <-done:
		return out.value, out.err
	case <-ctx.Done():
		var none T
		return none, fmt.Errorf("%s: %w", what, context.Cause(ctx))
	}
}

func panicked(ctx context.Context, what string, thrown any) error {
	provider.CallOf(ctx).Log.Error("the provider's code panicked", "in", what, "panic", fmt.Sprint(thrown), "stack", string(debug.Stack()))
	return provider.NewError(provider.ReasonInvariantBroken, what+": the provider's code panicked; its log has the stack")
}
