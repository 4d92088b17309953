"""tf.audio: decoding and encoding of WAV files."""
from ..namespace import offer_ops

offer_ops(
    """
    DecodeWav | contents, desired_channels, desired_samples | audio.decode_wav
    EncodeWav | audio, sample_rate | audio.encode_wav
    """
)
