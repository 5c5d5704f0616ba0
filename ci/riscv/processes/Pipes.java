import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.stream.IntStream;

public class Pipes {
    static BufferedReader lines(Socket socket) throws Exception {
        return new BufferedReader(new InputStreamReader(socket.getInputStream()));
    }

    static void serve(ServerSocket server) {
        try (Socket peer = server.accept()) {
            peer.getOutputStream().write(("got " + lines(peer).readLine() + "\n").getBytes());
        } catch (Exception error) {
            System.out.println(error);
        }
    }

    public static void main(String[] arguments) throws Exception {
        System.out.println(IntStream.range(0, 1000).parallel().map(x -> x * x % 7).sum());
        Process child = new ProcessBuilder("sh", "-c", "echo from $0; exit 4").start();
        String text = new String(child.getInputStream().readAllBytes()).trim();
        System.out.println(text + " " + child.waitFor());
        ServerSocket server = new ServerSocket(0, 5, InetAddress.getLoopbackAddress());
        Thread thread = new Thread(() -> serve(server));
        thread.start();
        try (Socket own = new Socket(server.getInetAddress(), server.getLocalPort())) {
            own.getOutputStream().write("hello\n".getBytes());
            System.out.println(lines(own).readLine());
        }
        thread.join();
    }
}
