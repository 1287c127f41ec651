import java.nio.file.Files;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.openapitools.client.ApiClient;
import org.openapitools.client.api.CampaignsApi;
import org.openapitools.client.api.TagsApi;
import org.openapitools.client.api.WebhooksApi;
import org.openapitools.client.model.*;

public class Journey {
  public static void main(String[] arguments) throws Exception {
    ApiClient client = new ApiClient();
    client.updateBaseUri(System.getenv("BASE_URL"));
    client.setRequestInterceptor(request -> request.header("X-API-Key", System.getenv("API_KEY")));
    CampaignsApi campaigns = new CampaignsApi(client);
    TagsApi tags = new TagsApi(client);
    WebhooksApi webhooks = new WebhooksApi(client);

    Tag tag = tags.createTag(new CreateTag().name("Java"), null).getData();
    List<Tag> found = tags.listTags(1, 100, "java", null).getData();
    CreateCampaign creation = new CreateCampaign()
        .name("Java")
        .templateId(UUID.fromString(System.getenv("TEMPLATE_ID")))
        .contactSelectionType(ContactSelectionType.QUICK_CONTACTS)
        .quickContacts(List.of("+4915112345721,Ada", "+4915112345722,Grace"))
        .sendType(SendType.SEND_TYPE_IMMEDIATE);
    UUID id = campaigns.createCampaign(creation, null).getData().getCampaign().getId();
    while (campaigns.getCampaign(id).getData().getStatus() != CampaignStatus.CAMPAIGN_STATUS_COMPLETED) Thread.sleep(200);
    RecipientPage recipients = campaigns.listCampaignRecipients(id, null, null, null, null, null, null);
    var people = Files.writeString(Files.createTempFile("people", ".csv"), "phone,country\n15112345723,49\n");
    CsvFile file = campaigns.uploadCampaignCsv(people.toFile()).getData();
    Files.delete(people);
    CreateWebhook hook = new CreateWebhook()
        .title("Java").url("https://example.com/hook").events(Set.of(EventKey.EVENT_KEY_SENT));
    Webhook webhook = webhooks.createWebhook(hook, null).getData();
    webhooks.deleteWebhook(webhook.getId());
    System.out.printf(
        "{\"tagged\":%s,\"recipients\":%d,\"headers\":[\"%s\"],\"events\":[\"%s\"]}%n",
        found.contains(tag), recipients.getData().size(),
        String.join("\",\"", file.getHeaders()), webhook.getEvents().iterator().next());
  }
}
