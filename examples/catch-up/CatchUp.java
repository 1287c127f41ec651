// Prints every event since the last run. Needs BASE_URL, API_KEY and CURSOR_FILE.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;

public class CatchUp {
  /** The beginning of a line. Java has no JSON parser: use a library such as Jackson in a program of your own. */
  static final Pattern event =
      Pattern.compile("^\\{\"id\":\"([^\"]+)\",\"cursor\":\"[^\"]+\",\"body\":\\{\"eventKey\" ?: ?\"([^\"]+)\".*");

  public static void main(String[] arguments) throws Exception {
    var client = HttpClient.newHttpClient();
    var file = Path.of(System.getenv("CURSOR_FILE"));
    var cursor = Files.exists(file) ? Files.readString(file) : "";
    for (var hasMore = true; hasMore; ) {
      var address = System.getenv("BASE_URL") + "/api/events?limit=1000" + (cursor.isEmpty() ? "" : "&after=" + cursor);
      var response = client.send(
          HttpRequest.newBuilder(URI.create(address)).timeout(Duration.ofMinutes(1))
              .header("X-API-Key", System.getenv("API_KEY")).header("Accept", "application/x-ndjson").build(),
          BodyHandlers.ofString());
      if (response.statusCode() != 200) throw new IllegalStateException(response.body());
      for (var line : response.body().lines().toList()) {
        // Skip ids that the webhook brought already.
        var found = event.matcher(line);
        if (found.matches()) System.out.println(found.group(1) + " " + found.group(2));
      }
      var next = response.headers().firstValue("X-Next-Cursor").orElseThrow();
      hasMore = !next.equals(cursor);
      cursor = next;
      Files.writeString(file, cursor);
    }
  }
}
