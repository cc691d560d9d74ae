// SPDX-License-Identifier: MIT
// The Java driver of the code interpreter, on the JDK's own jshell: see interpreter/frame.h for what
// it reads from descriptor 3, interpreter/kernel.h for what it writes to descriptor 4.
import java.io.BufferedInputStream;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import jdk.jshell.DeclarationSnippet;
import jdk.jshell.EvalException;
import jdk.jshell.JShell;
import jdk.jshell.Snippet;
import jdk.jshell.SnippetEvent;
import jdk.jshell.SourceCodeAnalysis;

class Driver {
    static OutputStream messages;
    static JShell shell;
    static volatile boolean isRunning;

    static String quote(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || Character.isSurrogate(c)) {
                out.append(Character.isSurrogate(c) ? "?" : String.format("\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    static synchronized void send(String text) {
        try {
            messages.write((text + "\n").getBytes(StandardCharsets.UTF_8));
            messages.flush();
        } catch (IOException e) {
            System.exit(1);
        }
    }

    static void sendError(String name, String value, String traceback) {
        send("{\"type\":\"error\",\"name\":" + quote(name) + ",\"value\":" + quote(value)
            + ",\"traceback\":" + quote(traceback) + "}");
    }

    static String shortName(String name) {
        return name.substring(name.lastIndexOf('.') + 1);
    }

    static void sendException(Throwable e) {
        StringBuilder trace = new StringBuilder(e.toString());
        for (StackTraceElement at : e.getStackTrace()) {
            trace.append("\n    at ").append(at);
        }
        String name = e instanceof EvalException
            ? shortName(((EvalException) e).getExceptionClassName()) : e.getClass().getSimpleName();
        sendError(name, String.valueOf(e.getMessage()), trace.toString());
    }

    /** What is wrong with a statement that was not accepted. */
    static String problems(Snippet snippet) {
        List<String> lines = new ArrayList<>();
        shell.diagnostics(snippet).forEach(d -> lines.add(d.getMessage(null)));
        if (lines.isEmpty() && snippet instanceof DeclarationSnippet) {
            shell.unresolvedDependencies((DeclarationSnippet) snippet).forEach(lines::add);
        }
        return String.join("\n", lines);
    }

    /** True when the code may go on. */
    static boolean show(SnippetEvent event, boolean isLast) {
        if (event.causeSnippet() != null) {
            return true;
        }
        if (event.exception() != null) {
            sendException(event.exception());
            return false;
        }
        if (event.status() == Snippet.Status.REJECTED) {
            sendError("CompilationError", problems(event.snippet()), event.snippet().source());
            return false;
        }
        boolean isValue = event.snippet().kind() == Snippet.Kind.EXPRESSION
            || event.snippet().subKind() == Snippet.SubKind.TEMP_VAR_EXPRESSION_SUBKIND;
        if (isLast && isValue && event.value() != null) {
            send("{\"type\":\"result\",\"main\":true,\"data\":{\"text/plain\":"
                + quote(event.value()) + "}}");
        }
        return true;
    }

    static void run(String code) {
        SourceCodeAnalysis analysis = shell.sourceCodeAnalysis();
        String rest = code;
        while (!rest.isBlank()) {
            SourceCodeAnalysis.CompletionInfo part = analysis.analyzeCompletion(rest);
            String source = part.source();
            if (source == null || !part.completeness().isComplete()) {
                // What is incomplete is evaluated for its error.
                source = rest;
                rest = "";
            } else {
                rest = part.remaining();
            }
            for (SnippetEvent event : shell.eval(source)) {
                if (!show(event, rest.isBlank())) {
                    return;
                }
            }
        }
    }

    static void execute(String code) {
        isRunning = true;
        try {
            run(code);
        } catch (RuntimeException e) {
            sendException(e);
        }
        isRunning = false;
        System.out.flush();
        System.err.flush();
        send("{\"type\":\"done\"}");
    }

    /** A process cannot change its environment: variables become properties. */
    static void setVariable(String text) {
        int at = text.indexOf('=');
        if (at < 0) {
            System.clearProperty(text);
        } else {
            System.setProperty(text.substring(0, at), text.substring(at + 1));
        }
    }

    static String readLine(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                System.exit(0);
            }
            line.append((char) c);
        }
        return line.toString();
    }

    @SuppressWarnings("removal")
    public static void main(String[] args) throws Exception {
        messages = new FileOutputStream("/proc/self/fd/4");
        InputStream requests = new BufferedInputStream(
            new FileInputStream("/proc/self/fd/3"));
        shell = JShell.builder().executionEngine("local").build();
        for (String name : List.of("java.io.*", "java.math.*", "java.net.*", "java.nio.file.*",
                "java.util.*", "java.util.concurrent.*", "java.util.function.*",
                "java.util.regex.*", "java.util.stream.*")) {
            shell.eval("import " + name + ";");
        }
        sun.misc.Signal.handle(new sun.misc.Signal("INT"), s -> {
            if (isRunning) {
                shell.stop();
            }
        });
        send("{\"type\":\"ready\"}");
        while (true) {
            String[] head = readLine(requests).split(" ");
            String text = new String(requests.readNBytes(Integer.parseInt(head[1])),
                StandardCharsets.UTF_8);
            switch (head[0]) {
                case "execute" -> execute(text);
                case "env" -> setVariable(text);
                default -> System.setProperty("user.dir", text);
            }
        }
    }
}
