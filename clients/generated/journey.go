package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"os"
	"slices"
	"time"

	"github.com/google/uuid"
	api "journey/campaigns"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func main() {
	ctx := context.Background()
	withKey := func(_ context.Context, request *http.Request) error {
		request.Header.Set("X-API-Key", os.Getenv("API_KEY"))
		return nil
	}
	client := must(api.NewClientWithResponses(os.Getenv("BASE_URL"), api.WithRequestEditorFn(withKey)))

	tag := must(client.CreateTagWithResponse(ctx, nil, api.CreateTag{Name: "Go"})).JSON201.Data
	search := "go"
	found := must(client.ListTagsWithResponse(ctx, &api.ListTagsParams{Search: &search})).JSON200.Data
	contacts := []string{"+4915112345731,Ada", "+4915112345732,Grace"}
	creation := api.CreateCampaign{
		Name:                 "Go",
		TemplateId:           uuid.MustParse(os.Getenv("TEMPLATE_ID")),
		ContactSelectionType: api.QuickContacts,
		QuickContacts:        &contacts,
		SendType:             api.SENDTYPEIMMEDIATE,
	}
	campaign := must(client.CreateCampaignWithResponse(ctx, nil, creation)).JSON201.Data.Campaign
	for !completed(must(client.GetCampaignWithResponse(ctx, campaign.Id)).JSON200.Data) {
		time.Sleep(200 * time.Millisecond)
	}
	recipients := must(client.ListCampaignRecipientsWithResponse(ctx, campaign.Id, nil)).JSON200.Data

	var form bytes.Buffer
	writer := multipart.NewWriter(&form)
	must(must(writer.CreateFormFile("file", "people.csv")).Write([]byte("phone,country\n15112345733,49\n")))
	writer.Close()
	file := must(client.UploadCampaignCsvWithBodyWithResponse(ctx, writer.FormDataContentType(), &form)).JSON201.Data

	hook := api.CreateWebhook{Title: "Go", Url: "https://example.com/hook", Events: []api.EventKey{api.EVENTKEYSENT}}
	webhook := must(client.CreateWebhookWithResponse(ctx, nil, hook)).JSON201.Data
	must(client.DeleteWebhookWithResponse(ctx, webhook.Id))
	fmt.Println(string(must(json.Marshal(map[string]any{
		"tagged":     slices.ContainsFunc(found, func(one api.Tag) bool { return one.TagId == tag.TagId }),
		"recipients": len(recipients),
		"headers":    file.Headers,
		"events":     webhook.Events,
	}))))
}

// Takes a generated type as a parameter.
func completed(campaign api.CampaignDetail) bool { return campaign.Status == api.CAMPAIGNSTATUSCOMPLETED }
