package simcloud

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// callTimeout bounds each call of the cloud; upstream's controllers set no deadline of their own.
const callTimeout = 10 * time.Second

type client struct {
	url  string
	key  string
	http *http.Client
}

func newClient(url, key string) *client {
	return &client{url: url, key: key, http: &http.Client{Timeout: callTimeout}}
}

// refusal is the cloud's own "no".
type refusal struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

func (r *refusal) Error() string { return r.Code + ": " + r.Message }

// isRefusal says whether the cloud refused with this code.
func isRefusal(err error, code string) bool {
	var found *refusal
	return errors.As(err, &found) && found.Code == code
}

// call sends one request and reads its answer into `answer`, unless that is nil.
func (c *client) call(ctx context.Context, method, path string, query url.Values, body, answer any) error {
	var payload bytes.Buffer
	if body != nil {
		if err := json.NewEncoder(&payload).Encode(body); err != nil {
			return err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, c.url+path+"?"+query.Encode(), &payload)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+c.key)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	decoder := json.NewDecoder(response.Body)
	if response.StatusCode >= http.StatusBadRequest {
		refused := refusal{}
		if err := decoder.Decode(&refused); err != nil {
			return fmt.Errorf("%s %s: status %d", method, path, response.StatusCode)
		}
		return &refused
	}
	if answer == nil {
		return nil
	}
	return decoder.Decode(answer)
}

// page is one page of a list.
type page[Item any] struct {
	Items         []Item `json:"items"`
	NextPageToken string `json:"nextPageToken"`
}

// list reads all pages from the cloud's primary.
func list[Item any](ctx context.Context, c *client, path string, query url.Values) ([]Item, error) {
	query.Set("consistent", "true")
	var all []Item
	for {
		var one page[Item]
		if err := c.call(ctx, http.MethodGet, path, query, nil, &one); err != nil {
			return nil, err
		}
		all = append(all, one.Items...)
		if one.NextPageToken == "" {
			return all, nil
		}
		query.Set("pageToken", one.NextPageToken)
	}
}
