// Prints every event since the last run. Needs BASE_URL, API_KEY and CURSOR_FILE.
package main

import (
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"time"
)

type page struct {
	Data []struct {
		ID   string
		Body struct{ EventKey string }
	}
	Pagination struct {
		NextCursor string
		HasMore    bool
	}
	Message string
}

var client = http.Client{Timeout: time.Minute}

func read(cursor string) page {
	query := url.Values{"limit": {"1000"}}
	if cursor != "" {
		query.Set("after", cursor)
	}
	request, err := http.NewRequest("GET", os.Getenv("BASE_URL")+"/api/events?"+query.Encode(), nil)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-API-Key", os.Getenv("API_KEY"))
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	var found page
	if err := json.NewDecoder(response.Body).Decode(&found); err != nil || response.StatusCode != 200 {
		log.Fatal(response.Status, " ", found.Message, err)
	}
	return found
}

func main() {
	file := os.Getenv("CURSOR_FILE")
	stored, _ := os.ReadFile(file)
	cursor := string(stored)
	for hasMore := true; hasMore; {
		found := read(cursor)
		for _, event := range found.Data {
			// Skip ids that the webhook brought already.
			fmt.Println(event.ID, event.Body.EventKey)
		}
		cursor, hasMore = found.Pagination.NextCursor, found.Pagination.HasMore
		if err := os.WriteFile(file, []byte(cursor), 0o600); err != nil {
			log.Fatal(err)
		}
	}
}
