// Sends a campaign to two numbers and prints what happened to each. Needs BASE_URL and API_KEY.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"time"
)

var client = http.Client{Timeout: time.Minute}

func api[T any](method, path string, body any, idempotencyKey string) T {
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			log.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, os.Getenv("BASE_URL")+path, content)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("X-API-Key", os.Getenv("API_KEY"))
	request.Header.Set("Content-Type", "application/json")
	if idempotencyKey != "" {
		request.Header.Set("Idempotency-Key", idempotencyKey)
	}
	response, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		log.Fatal(response.Status, " ", string(answer), err)
	}
	var envelope struct{ Data T }
	if err := json.Unmarshal(answer, &envelope); err != nil {
		log.Fatal(err)
	}
	return envelope.Data
}

type Template struct{ ID string }
type Campaign struct {
	ID, Status  string
	PauseReason string `json:"pause_reason"`
}
type Created struct{ Campaign Campaign }
type Recipient struct {
	PhoneNumber   string `json:"phone_number"`
	State, Reason string
}

func main() {
	templates := api[[]Template]("GET", "/api/templates?search=hello_campaign&language=en_US&status=APPROVED", nil, "")
	// The same Idempotency-Key never creates a second campaign, so this request can be repeated.
	key := "quick-start-" + strconv.FormatInt(time.Now().UnixNano(), 36)
	campaign := api[Created]("POST", "/api/campaigns/auto-trigger", map[string]any{
		"name":                   "Spring offer",
		"template_id":            templates[0].ID,
		"contact_selection_type": "quick_contacts",
		"quick_contacts":         []string{"+4915112345678,Ada", "+4915166131026,Grace"},
		"send_type":              "IMMEDIATE",
	}, key).Campaign
	path := "/api/campaigns/" + campaign.ID
	for campaign.Status == "DRAFT" || campaign.Status == "SCHEDULED" || campaign.Status == "RUNNING" {
		time.Sleep(time.Second)
		campaign = api[Campaign]("GET", path, nil, "")
	}
	fmt.Println(campaign.Status, campaign.PauseReason)
	for _, one := range api[[]Recipient]("GET", path+"/recipients", nil, "") {
		fmt.Println(one.PhoneNumber, one.State, one.Reason)
	}
}
