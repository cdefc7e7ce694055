"""What is done, in which order: stages over the lake. STAGES is a tuple."""
