//! The library's picture encoder (mtmd): from pixels to what stands in a prompt, and to vectors.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::ptr::NonNull;

use llama_cpp_2::model::LlamaModel;
use llama_cpp_sys_2 as sys;

use super::context::pointer;
use crate::{EngineError, Shown};

/// What a picture becomes in a prompt, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Tokens that the encoder puts around pictures and between tiles.
    Tokens(Vec<i32>),
    /// A tile: so many vectors.
    Tile {
        /// Vectors.
        count: usize,
        /// Width and height that the encoder sees, where the library tells.
        size: Option<(u32, u32)>,
        /// Where its vectors stand.
        places: Places,
    },
}

/// Where the vectors of a tile stand, seen from where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// One behind the other, as tokens do.
    InLine,
    /// In several directions (M-RoPE).
    Spread {
        /// What comes behind the tile stands so far from where it begins.
        span: i32,
        /// Time, height, width and a fourth that is no distance, for every vector.
        each: Vec<[i32; 4]>,
    },
}

/// An encoder.
pub(super) struct Eyes {
    context: NonNull<sys::mtmd_context>,
    width: usize,
    /// Whether places have several directions.
    spread: bool,
    /// Whether the vectors of a tile see each other in both directions.
    mutual: bool,
}

/// Chunks that the library made of a picture.
struct Chunks(NonNull<sys::mtmd_input_chunks>);

/// Pixels in the library's hands.
struct Bitmap(NonNull<sys::mtmd_bitmap>);

#[allow(unsafe_code)]
impl Eyes {
    /// Opens the encoder of a model. `warm` sets memory aside for it at once.
    pub(super) fn open(
        path: &Path,
        model: &'static LlamaModel,
        threads: u32,
        warm: bool,
    ) -> Result<Self, EngineError> {
        let name = path.display();
        // SAFETY: the model lives for ever.
        let raw = unsafe { Eyes::raw(path, pointer(model), threads, warm) };
        let context = raw.ok_or_else(|| {
            EngineError(format!("{name}: llama.cpp cannot open it as the picture projector of this model"))
        })?;
        // SAFETY: the model lives for ever.
        let width = unsafe { sys::llama_model_n_embd_inp(pointer(model)) }.max(0) as usize;
        // SAFETY: the context was just opened.
        let (sees, mutual, spread) = unsafe {
            let context = context.as_ptr();
            (
                sys::mtmd_support_vision(context),
                sys::mtmd_decode_use_non_causal(context, std::ptr::null()),
                sys::mtmd_decode_use_mrope(context),
            )
        };
        let eyes = Eyes { context, width, spread, mutual };
        match sees {
            true => Ok(eyes),
            false => Err(EngineError(format!("{name}: it reads no pictures"))),
        }
    }

    /// # Safety
    /// The model must be null or live.
    unsafe fn raw(
        path: &Path,
        model: *const sys::llama_model,
        threads: u32,
        warm: bool,
    ) -> Option<NonNull<sys::mtmd_context>> {
        let path = CString::new(path.to_string_lossy().as_bytes()).ok()?;
        // SAFETY: the defaults are plain data, the path lives during the call.
        let context = unsafe {
            let mut params = sys::mtmd_context_params_default();
            params.use_gpu = false;
            params.print_timings = false;
            params.n_threads = threads.max(1) as i32;
            params.warmup = warm;
            sys::mtmd_init_from_file(path.as_ptr(), model, params)
        };
        NonNull::new(context)
    }

    /// Opens an encoder with its memory and closes it, for what the library says meanwhile. Tells whether it could.
    ///
    /// # Safety
    /// The model must live.
    pub(super) unsafe fn rehearse(path: &Path, model: *const sys::llama_model) -> bool {
        // SAFETY: as the caller says.
        match unsafe { Eyes::raw(path, model, 1, true) } {
            Some(context) => {
                drop(Eyes { context, width: 0, spread: false, mutual: false });
                true
            }
            None => false,
        }
    }

    /// Numbers of one vector.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Whether places have several directions.
    pub(super) fn is_spread(&self) -> bool {
        self.spread
    }

    /// Whether the vectors of a tile see each other in both directions, so that a tile must be evaluated in one piece, alone.
    pub(super) fn is_mutual(&self) -> bool {
        self.mutual
    }

    /// What a picture of that size becomes in a prompt.
    pub(super) fn pieces(&self, picture: &Shown) -> Result<Vec<Piece>, String> {
        let chunks = self.chunks(picture, false)?;
        (0..chunks.len()).map(|index| chunks.piece(index, self.spread)).collect()
    }

    /// The vectors of all tiles, one after the other.
    pub(super) fn encode(&mut self, picture: &Shown) -> Result<Vec<f32>, String> {
        let chunks = self.chunks(picture, true)?;
        let mut vectors = Vec::new();
        for index in 0..chunks.len() {
            let Piece::Tile { count, .. } = chunks.piece(index, self.spread)? else { continue };
            let numbers = count * self.width;
            // SAFETY: the chunk lives as long as `chunks`; the library keeps as many numbers as the chunk has vectors,
            // until its next call.
            let found = unsafe {
                let code = sys::mtmd_encode_chunk(self.context.as_ptr(), chunks.chunk(index));
                let from = sys::mtmd_get_output_embd(self.context.as_ptr());
                (code == 0 && !from.is_null()).then(|| std::slice::from_raw_parts(from, numbers))
            };
            vectors.extend_from_slice(found.ok_or("llama.cpp could not encode the picture")?);
        }
        match vectors.iter().all(|number| number.is_finite()) {
            true => Ok(vectors),
            false => Err("the encoded picture has numbers that are not finite".into()),
        }
    }

    fn chunks(&self, picture: &Shown, with_pixels: bool) -> Result<Chunks, String> {
        if with_pixels && !picture.has_pixels() {
            return Err("its pixels are not there".into());
        }
        let pixels = if with_pixels { picture.rgb.as_ptr() } else { std::ptr::null() };
        // SAFETY: the pixels are as many as the size says, and are copied.
        let bitmap = unsafe { sys::mtmd_bitmap_init(picture.width, picture.height, pixels) };
        let bitmap = Bitmap(NonNull::new(bitmap).ok_or("llama.cpp takes no picture of that size")?);
        // SAFETY: makes an empty list.
        let list = unsafe { sys::mtmd_input_chunks_init() };
        let list = Chunks(NonNull::new(list).ok_or("llama.cpp makes no list")?);
        let bitmaps = [bitmap.0.as_ptr().cast_const()];
        // SAFETY: text and bitmap live during the call; the marker is the library's own string.
        let code = unsafe {
            let marker = sys::mtmd_default_marker();
            let text = sys::mtmd_input_text {
                text: marker,
                text_len: std::ffi::CStr::from_ptr(marker).to_bytes().len(),
                add_special: false,
                parse_special: true,
            };
            sys::mtmd_tokenize(
                self.context.as_ptr(),
                list.0.as_ptr(),
                &raw const text,
                bitmaps.as_ptr().cast_mut(),
                bitmaps.len(),
            )
        };
        match code {
            0 => Ok(list),
            _ => Err(format!(
                "llama.cpp cannot prepare a picture of {} x {} pixels",
                picture.width, picture.height
            )),
        }
    }
}

#[allow(unsafe_code)]
impl Drop for Eyes {
    fn drop(&mut self) {
        // SAFETY: it was opened by the library and is freed once.
        unsafe { sys::mtmd_free(self.context.as_ptr()) }
    }
}

#[allow(unsafe_code)]
impl Drop for Bitmap {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { sys::mtmd_bitmap_free(self.0.as_ptr()) }
    }
}

#[allow(unsafe_code)]
impl Drop for Chunks {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { sys::mtmd_input_chunks_free(self.0.as_ptr()) }
    }
}

#[allow(unsafe_code)]
impl Chunks {
    fn len(&self) -> usize {
        // SAFETY: the list lives as long as `self`.
        unsafe { sys::mtmd_input_chunks_size(self.0.as_ptr()) }
    }

    fn chunk(&self, index: usize) -> *const sys::mtmd_input_chunk {
        // SAFETY: as above; callers stay below the length.
        unsafe { sys::mtmd_input_chunks_get(self.0.as_ptr(), index) }
    }

    fn piece(&self, index: usize, spread: bool) -> Result<Piece, String> {
        let chunk = self.chunk(index);
        // SAFETY: the chunk lives as long as `self`; the tokens are as many as the library says.
        unsafe {
            match sys::mtmd_input_chunk_get_type(chunk) {
                sys::MTMD_INPUT_CHUNK_TYPE_TEXT => {
                    let mut count = 0;
                    let tokens = sys::mtmd_input_chunk_get_tokens_text(chunk, &raw mut count);
                    let tokens = match tokens.is_null() || count == 0 {
                        true => Vec::new(),
                        false => std::slice::from_raw_parts(tokens, count).to_vec(),
                    };
                    Ok(Piece::Tokens(tokens))
                }
                sys::MTMD_INPUT_CHUNK_TYPE_IMAGE => {
                    let count = sys::mtmd_input_chunk_get_n_tokens(chunk);
                    let span = sys::mtmd_input_chunk_get_n_pos(chunk);
                    if count == 0 || span <= 0 {
                        return Err("llama.cpp makes no tokens of it".into());
                    }
                    let places = match spread {
                        true => spread_places(chunk, count, span)?,
                        false if usize::try_from(span) == Ok(count) => Places::InLine,
                        false => return Err(format!("its {count} tokens take {span} places")),
                    };
                    Ok(Piece::Tile { count, size: size(chunk), places })
                }
                _ => Err("llama.cpp made something else than text and pictures of it".into()),
            }
        }
    }
}

/// Where the vectors of a tile stand. Asked from two beginnings: what does not move with them is no distance.
///
/// # Safety
/// The chunk must live.
#[allow(unsafe_code)]
unsafe fn spread_places(
    chunk: *const sys::mtmd_input_chunk,
    count: usize,
    span: i32,
) -> Result<Places, String> {
    const AWAY: i32 = 1000;
    // SAFETY: as the caller says; the places asked for are those of the tile.
    let ask = |begin: i32, vector: usize| unsafe {
        let tokens = sys::mtmd_input_chunk_get_tokens_image(chunk);
        let place = sys::mtmd_image_tokens_get_decoder_pos(tokens, begin, vector);
        [place.t, place.y, place.x, place.z].map(|number| number as i32)
    };
    let mut each = Vec::with_capacity(count);
    for vector in 0..count {
        let (here, away) = (ask(0, vector), ask(AWAY, vector));
        let moved = [0, 1, 2].iter().all(|&direction| away[direction] - here[direction] == AWAY);
        if !moved || here[3] != away[3] {
            return Err("its tokens have places that depend on more than where it begins: such models cannot be asked \
                with pictures yet"
                .into());
        }
        each.push(here);
    }
    Ok(Places::Spread { span, each })
}

/// Width and height of a tile after resizing. The library shows them only in the form in which it stores chunks; another
/// version of that form tells nothing.
///
/// # Safety
/// The chunk must live.
#[allow(unsafe_code)]
unsafe fn size(chunk: *const sys::mtmd_input_chunk) -> Option<(u32, u32)> {
    let mut stored = vec![0u8; 4096];
    let mut length = 0;
    // SAFETY: writes no more than it is given room for.
    let code = unsafe {
        let room = stored.as_mut_ptr().cast::<c_void>().cast();
        sys::mtmd_input_chunk_save(chunk, room, stored.len(), &raw mut length)
    };
    (code == 0).then(|| size_in(stored.get(..length)?))?
}

/// Reads the size out of a stored chunk of version 2.
fn size_in(stored: &[u8]) -> Option<(u32, u32)> {
    struct Reader<'a>(&'a [u8]);
    impl Reader<'_> {
        fn take(&mut self, count: usize) -> Option<&[u8]> {
            let (taken, rest) = self.0.split_at_checked(count)?;
            self.0 = rest;
            Some(taken)
        }
        fn number(&mut self) -> Option<u32> {
            Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
        }
        fn long(&mut self) -> Option<usize> {
            usize::try_from(u64::from_le_bytes(self.take(8)?.try_into().ok()?)).ok()
        }
    }
    let mut reader = Reader(stored);
    if reader.long()? != 2 {
        return None;
    }
    reader.number()?; // type
    let tokens = reader.long()?;
    reader.take(tokens.checked_mul(4)?)?;
    if reader.take(1)? != [1] {
        return None; // no picture
    }
    (0..5).try_for_each(|_| reader.number().map(drop))?;
    let id = reader.long()?;
    reader.take(id)?;
    reader.take(1)?; // whether it is sound
    if reader.long()? == 0 {
        return None;
    }
    reader.take(2)?;
    reader.number()?;
    Some((reader.number()?, reader.number()?)).filter(|(width, height)| *width > 0 && *height > 0)
}
