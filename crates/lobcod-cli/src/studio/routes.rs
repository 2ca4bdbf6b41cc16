//! Answers to requests: files of the page, the status of the engine, jobs.

use super::PATIENCE;
use super::guard::{Guard, HEADERS};
use super::jobs::{Events, start};
use http_body_util::{BodyExt as _, Either, Full, LengthLimitError, Limited};
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::header::CONTENT_TYPE;
use hyper::{Method, Request, Response, StatusCode};
use lobcod_web::{Machine, PROTOCOL, page};
use serde_json::json;
use std::sync::Arc;

/// Largest request, in bytes: 20 frames of 12 megapixels.
const MAX_BODY: u64 = 1 << 30;

/// What the server needs to answer.
pub struct Studio {
    pub guard: Guard,
    /// Name of the engine, and its number of threads for large images.
    pub engine: &'static str,
    pub threads: usize,
    pub machine: Machine,
}

type Answer = Response<Either<Full<Bytes>, Events>>;

/// A request that is not answered: the status and the reason.
struct Refusal(StatusCode, String);

pub async fn answer(studio: &Arc<Studio>, request: Request<Incoming>) -> Answer {
    let answer = route(studio, request).await;
    let mut answer = answer.unwrap_or_else(|Refusal(status, reason)| {
        let mut answer = text("application/json", json!({"error": reason}).to_string());
        *answer.status_mut() = status;
        answer
    });
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, value.parse().expect("a valid header"));
    }
    answer
}

async fn route(studio: &Arc<Studio>, request: Request<Incoming>) -> Result<Answer, Refusal> {
    let refuse = |status, reason: &str| Err(Refusal(status, reason.into()));
    if !studio.guard.is_local(request.headers()) {
        return refuse(StatusCode::FORBIDDEN, "only pages of this server may use it");
    }
    let path = request.uri().path().to_string();
    let allowed = if path == "/api/v1/run" { Method::POST } else { Method::GET };
    if *request.method() != allowed {
        return refuse(StatusCode::METHOD_NOT_ALLOWED, &format!("use {allowed} for {path}"));
    }
    if path.starts_with("/api/") && !studio.guard.has_token(request.headers()) {
        return refuse(
            StatusCode::FORBIDDEN,
            "the token is missing or wrong; open the address that lobcod studio prints",
        );
    }
    match &path[..] {
        "/api/v1/status" => Ok(text("application/json", status(studio))),
        "/api/v1/run" => {
            let request = read(request).await?;
            let events = start(Arc::clone(studio), request).map_err(|e| {
                Refusal(StatusCode::SERVICE_UNAVAILABLE, format!("the job could not start ({e})"))
            })?;
            let mut answer = Response::new(Either::Right(events));
            answer
                .headers_mut()
                .insert(CONTENT_TYPE, "application/octet-stream".parse().expect("valid"));
            Ok(answer)
        }
        _ => {
            let file = path.strip_prefix('/').and_then(page::file);
            let Some(file) = file else {
                return refuse(StatusCode::NOT_FOUND, &format!("there is no {path} here"));
            };
            Ok(text(page::media_type(&path), file))
        }
    }
}

fn status(studio: &Studio) -> String {
    json!({
        "protocol": PROTOCOL,
        "version": env!("CARGO_PKG_VERSION"),
        "engine": studio.engine,
        "threads": studio.threads,
        "max_body_bytes": MAX_BODY,
    })
    .to_string()
}

fn text(media_type: &'static str, contents: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Either::Left(Full::new(contents.into())));
    answer.headers_mut().insert(CONTENT_TYPE, media_type.parse().expect("a valid header"));
    answer
}

/// The body of a request, unless it is too large.
async fn read(request: Request<Incoming>) -> Result<Bytes, Refusal> {
    let too_large = || {
        let most = lobcod::memory::words(MAX_BODY);
        Refusal(
            StatusCode::PAYLOAD_TOO_LARGE,
            format!("the request is larger than {most}; use fewer or smaller images"),
        )
    };
    if request.body().size_hint().lower() > MAX_BODY {
        return Err(too_large());
    }
    let mut body = Limited::new(request.into_body(), MAX_BODY as usize);
    let mut bytes = Vec::new();
    loop {
        let part = tokio::time::timeout(PATIENCE, body.frame()).await.map_err(|_| {
            Refusal(StatusCode::REQUEST_TIMEOUT, "the rest of the request did not arrive".into())
        })?;
        match part {
            None => return Ok(bytes.into()),
            Some(Ok(frame)) => {
                if let Some(data) = frame.data_ref() {
                    bytes.extend_from_slice(data);
                }
            }
            Some(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
            Some(Err(error)) => {
                let words = format!("the request was cut off ({error})");
                return Err(Refusal(StatusCode::BAD_REQUEST, words));
            }
        }
    }
}
