// Sends a campaign to two numbers and prints what happened to each. Needs BASE_URL and API_KEY.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.regex.Pattern;

public class QuickStart {
  static final HttpClient client = HttpClient.newHttpClient();

  static String send(HttpRequest.Builder request) throws Exception {
    var response = client.send(
        request.header("X-API-Key", System.getenv("API_KEY")).timeout(Duration.ofMinutes(1)).build(),
        BodyHandlers.ofString());
    if (response.statusCode() >= 300) throw new IllegalStateException(response.body());
    return response.body();
  }

  static HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(System.getenv("BASE_URL") + path));
  }

  /** The first value of a field. Java has no JSON parser: use a library such as Jackson in a program of your own. */
  static String first(String json, String field, String characters) {
    var found = Pattern.compile("\"" + field + "\":\"(" + characters + "+)\"").matcher(json);
    if (!found.find()) throw new IllegalStateException(json);
    return found.group(1);
  }

  public static void main(String[] arguments) throws Exception {
    var template = first(send(to("/api/templates?search=hello_campaign&language=en_US&status=APPROVED")), "id", "[^\"]");
    var body = """
        {"name": "Spring offer", "template_id": "%s", "contact_selection_type": "quick_contacts",
         "quick_contacts": ["+4915112345678,Ada", "+4915166131026,Grace"], "send_type": "IMMEDIATE"}""".formatted(template);
    // The same Idempotency-Key never creates a second campaign, so this request can be repeated.
    var creation = to("/api/campaigns/auto-trigger")
        .header("Content-Type", "application/json")
        .header("Idempotency-Key", UUID.randomUUID().toString())
        .POST(BodyPublishers.ofString(body));
    var path = "/api/campaigns/" + first(send(creation), "id", "[^\"]");

    var status = first(send(to(path)), "status", "[A-Z]");
    while (Set.of("DRAFT", "SCHEDULED", "RUNNING").contains(status)) {
      Thread.sleep(1000);
      status = first(send(to(path)), "status", "[A-Z]");
    }
    System.out.println(status);
    System.out.print(send(to(path + "/recipients").header("Accept", "text/csv")));
  }
}
