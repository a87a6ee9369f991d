package bridge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/version"
)

// standIn answers a Kubernetes client within this process: Nodes as the controller has shown them, events into the log, and a
// clear refusal of everything else, so that a provider that needs more says so in its log and not by hanging.
type standIn struct {
	nodes *nodeStore
	log   *slog.Logger

	mu      sync.Mutex
	refused map[string]bool
}

func newStandIn(nodes *nodeStore, log *slog.Logger) *standIn {
	return &standIn{nodes: nodes, log: log, refused: map[string]bool{}}
}

const nodesPath = "/api/v1/nodes"

// RoundTrip answers one request.
func (s *standIn) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Body != nil {
		defer request.Body.Close()
	}
	path := request.URL.Path
	query := request.URL.Query()
	switch {
	case request.Method == http.MethodGet && path == "/version":
		return answer(request, http.StatusOK, version.Info{GitVersion: "v0.0.0-bridge"})
	case request.Method == http.MethodGet && path == nodesPath && query.Get("watch") != "":
		return s.watchNodes(request)
	case request.Method == http.MethodGet && path == nodesPath:
		return s.listNodes(request)
	case request.Method == http.MethodGet && strings.HasPrefix(path, nodesPath+"/"):
		return s.getNode(request, strings.TrimPrefix(path, nodesPath+"/"))
	case request.Method != http.MethodGet && strings.HasSuffix(strings.TrimRight(path, "/"), "/events"),
		request.Method == http.MethodPatch && strings.Contains(path, "/events/"):
		return s.takeEvent(request)
	default:
		return s.refuse(request)
	}
}

func (s *standIn) getNode(request *http.Request, name string) (*http.Response, error) {
	node := s.nodes.named(name)
	if node == nil {
		return failure(request, http.StatusNotFound, metav1.StatusReasonNotFound,
			"node "+strconv.Quote(name)+" has not been shown to the bridge")
	}
	node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
	return answer(request, http.StatusOK, node)
}

// listNodes waits for the first Node: an informer that has synced on nothing would say that the cluster has no Nodes.
func (s *standIn) listNodes(request *http.Request) (*http.Response, error) {
	if err := s.nodes.waitForFirst(request.Context()); err != nil {
		return nil, err
	}
	nodes, revision := s.nodes.list()
	list := v1.NodeList{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "NodeList"},
		ListMeta: metav1.ListMeta{ResourceVersion: strconv.FormatUint(revision, 10)},
	}
	for _, node := range nodes {
		list.Items = append(list.Items, *node)
	}
	return answer(request, http.StatusOK, list)
}

// maxWatch ends a watch whose caller names no time.
const maxWatch = time.Hour

func (s *standIn) watchNodes(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	if query.Get("sendInitialEvents") == "true" {
		// Clients list and then watch.
		return failure(request, http.StatusUnprocessableEntity, metav1.StatusReasonInvalid, "sendInitialEvents is not served")
	}
	since, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if err != nil {
		return failure(request, http.StatusBadRequest, metav1.StatusReasonBadRequest, "a watch begins after a list")
	}
	events, stop, ok := s.nodes.watch(since)
	if !ok {
		return failure(request, http.StatusGone, metav1.StatusReasonExpired, "too old resource version")
	}
	limit := maxWatch
	if seconds, err := strconv.Atoi(query.Get("timeoutSeconds")); err == nil && seconds > 0 {
		limit = time.Duration(seconds) * time.Second
	}
	reader, writer := io.Pipe()
	go func() {
		defer stop()
		defer writer.Close()
		pump(request, writer, events, limit)
	}()
	response := respond(request, http.StatusOK, nil)
	response.Body, response.ContentLength = reader, -1
	return response, nil
}

// pump writes events until the reader goes, the time is over, or it was too slow.
func pump(request *http.Request, writer *io.PipeWriter, events <-chan nodeEvent, limit time.Duration) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	encoder := json.NewEncoder(writer)
	// A reader that closes the body ends a write that is in progress, but none that is not: the request's context does.
	done := request.Context().Done()
	for {
		select {
		case <-done:
			return
		case <-timer.C:
			return
		case event, open := <-events:
			if !open {
				return
			}
			node := event.node.DeepCopy()
			node.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}
			if encoder.Encode(metav1.WatchEvent{Type: event.kind, Object: runtime.RawExtension{Object: node}}) != nil {
				return
			}
		}
	}
}

// takeEvent writes the provider's events to the log: the controller writes its own to the objects.
func (s *standIn) takeEvent(request *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	var event v1.Event
	if err := json.Unmarshal(body, &event); err != nil {
		return failure(request, http.StatusBadRequest, metav1.StatusReasonBadRequest, "the event is no JSON: "+err.Error())
	}
	about := event.InvolvedObject
	s.log.Info("event of the provider", "type", event.Type, "reason", event.Reason, "message", event.Message,
		"object", strings.Trim(about.Kind+" "+about.Namespace+"/"+about.Name, " /"))
	event.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Event"}
	return answer(request, http.StatusCreated, event)
}

// refuse says once for each kind of request what the provider lacks.
func (s *standIn) refuse(request *http.Request) (*http.Response, error) {
	what := request.Method + " " + request.URL.Path
	message := fmt.Sprintf("the provider sent %q to the Kubernetes API, but a bridge without its own client serves Nodes only: "+
		"start it with --kubeconfig or --in-cluster and grant it only that permission", what)
	s.mu.Lock()
	isNew := !s.refused[what]
	s.refused[what] = true
	s.mu.Unlock()
	if isNew {
		s.log.Error(message)
	}
	return failure(request, http.StatusForbidden, metav1.StatusReasonForbidden, message)
}

func failure(request *http.Request, code int, reason metav1.StatusReason, message string) (*http.Response, error) {
	return answer(request, code, metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure, Reason: reason, Message: message, Code: int32(code), //nolint:gosec // an HTTP status
	})
}

func answer(request *http.Request, code int, body any) (*http.Response, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	return respond(request, code, text), nil
}

func respond(request *http.Request, code int, body []byte) *http.Response {
	return &http.Response{
		StatusCode: code, Status: http.StatusText(code),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)),
		Request:       request,
	}
}
