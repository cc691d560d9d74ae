# SPDX-License-Identifier: MIT
# The R driver of the code interpreter: see interpreter/frame.h for what it reads from descriptor 3,
# interpreter/kernel.h for what it writes to descriptor 4. Base R alone.

local({
    requests <- file("/proc/self/fd/3", "rb", raw = TRUE)
    messages <- file("/proc/self/fd/4", "wb", raw = TRUE)

    quote_json <- function(text) {
        text <- enc2utf8(paste(text, collapse = "\n"))
        text <- gsub("\\", "\\\\", text, fixed = TRUE)
        text <- gsub("\"", "\\\"", text, fixed = TRUE)
        text <- gsub("\n", "\\n", text, fixed = TRUE)
        text <- gsub("\r", "\\r", text, fixed = TRUE)
        text <- gsub("\t", "\\t", text, fixed = TRUE)
        text <- gsub("[[:cntrl:]]", "", text)
        paste0("\"", text, "\"")
    }
    send <- function(text) {
        writeBin(charToRaw(paste0(text, "\n")), messages)
        flush(messages)
    }
    send_result <- function(bundle, is_main) {
        parts <- paste0(vapply(names(bundle), quote_json, ""), ":", vapply(bundle, quote_json, ""))
        send(paste0("{\"type\":\"result\",\"main\":", if (is_main) "true" else "false",
                    ",\"data\":{", paste(parts, collapse = ","), "}}"))
    }
    send_error <- function(name, value, traceback) {
        send(paste0("{\"type\":\"error\",\"name\":", quote_json(name), ",\"value\":",
                    quote_json(value), ",\"traceback\":", quote_json(traceback), "}"))
    }

    digits <- c(LETTERS, letters, 0:9, "+", "/")
    base64 <- function(bytes) {
        n <- length(bytes)
        bytes <- as.integer(c(bytes, raw((3 - n %% 3) %% 3)))
        m <- matrix(bytes, nrow = 3)
        groups <- rbind(m[1, ] %/% 4, (m[1, ] %% 4) * 16 + m[2, ] %/% 16,
                        (m[2, ] %% 16) * 4 + m[3, ] %/% 64, m[3, ] %% 64)
        text <- digits[as.vector(groups) + 1]
        if (n %% 3 > 0) text[seq(length(text) - (2 - n %% 3), length(text))] <- "="
        paste(text, collapse = "")
    }

    # Drawings go into files, a page each, and are shown when the code has ended.
    pages <- tempfile("plots")
    dir.create(pages)
    options(device = function(...) {
        grDevices::png(file.path(pages, "%06d.png"), width = 640, height = 480, type = "cairo")
    })
    show_pages <- function() {
        grDevices::graphics.off()
        for (file in list.files(pages, full.names = TRUE)) {
            bytes <- readBin(file, "raw", file.size(file))
            unlink(file)
            if (length(bytes) > 0) send_result(list("image/png" = base64(bytes)), FALSE)
        }
    }

    bundle_of <- function(value) {
        bundle <- list("text/plain" = utils::capture.output(print(value)))
        if (is.character(value) && length(value) == 1) bundle[["text/plain"]] <- value
        bundle
    }
    run <- function(code) {
        steps <- parse(text = code, keep.source = FALSE)
        for (i in seq_along(steps)) {
            got <- withVisible(eval(steps[[i]], globalenv()))
            if (got$visible) send_result(bundle_of(got$value), i == length(steps))
        }
    }
    name_of <- function(e) if (inherits(e, "simpleError")) "Error" else class(e)[1]
    execute <- function(code) {
        tryCatch(
            withCallingHandlers(run(code), warning = function(w) {
                message("Warning: ", conditionMessage(w))
                invokeRestart("muffleWarning")
            }),
            error = function(e) send_error(name_of(e), conditionMessage(e),
                                           paste(format(conditionCall(e)), collapse = "\n")),
            interrupt = function(e) send_error("KeyboardInterrupt", "", ""))
        tryCatch(show_pages(), error = function(e) NULL)
        flush(stdout())
        send("{\"type\":\"done\"}")
    }
    set_variable <- function(text) {
        at <- regexpr("=", text, fixed = TRUE)
        if (at < 0) {
            Sys.unsetenv(text)
        } else {
            do.call(Sys.setenv, stats::setNames(list(substring(text, at + 1)),
                                                substring(text, 1, at - 1)))
        }
    }
    read_line <- function() {
        line <- raw(0)
        repeat {
            byte <- readBin(requests, "raw", 1)
            if (length(byte) == 0) quit("no", 0)
            if (byte == as.raw(10)) return(rawToChar(line))
            line <- c(line, byte)
        }
    }
    read_bytes <- function(n) {
        bytes <- raw(0)
        while (length(bytes) < n) {
            more <- readBin(requests, "raw", n - length(bytes))
            if (length(more) == 0) quit("no", 0)
            bytes <- c(bytes, more)
        }
        text <- rawToChar(bytes)
        Encoding(text) <- "UTF-8"
        text
    }
    acts <- list(execute = execute, env = set_variable,
                 cwd = function(path) tryCatch(setwd(path), error = function(e) NULL))
    send("{\"type\":\"ready\"}")
    # An interrupt between two requests is nobody's.
    repeat tryCatch(repeat {
        head <- strsplit(read_line(), " ", fixed = TRUE)[[1]]
        acts[[head[1]]](read_bytes(as.integer(head[2])))
    }, interrupt = function(e) NULL)
})
